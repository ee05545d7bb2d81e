"""At which step a run started to go wrong: detectors, data flow, ranking, and its benchmark."""
