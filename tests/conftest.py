"""Settings of the whole suite."""

from hypothesis import settings

# How long an example takes says nothing on a shared machine.
settings.register_profile("agentrunproof", deadline=None)
settings.load_profile("agentrunproof")
