"""Files of recorded runs: where they are kept, how they are named, found, appended to."""
