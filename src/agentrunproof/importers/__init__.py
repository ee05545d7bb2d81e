"""Traces of other tools, read into recorded runs: one module per format, `detect` finds which.

Every format is read into a `draft.Draft`, which is written as a run file. What cannot be told in
a run is counted by name and told to the user.
"""
