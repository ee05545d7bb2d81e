"""Fixes of a recorded decision: what they change, whether they hold, tests that keep them."""
