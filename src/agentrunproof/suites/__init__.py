"""Suites of cases for what users plug into the SDK; they import the SDK and run it here."""
