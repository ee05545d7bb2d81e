"""Agents that do something they should not, and that can be recorded, explained and mended."""
