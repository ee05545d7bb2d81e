"""Settings of the whole suite."""

from hypothesis import settings

# How long an example takes says nothing on a shared machine.
settings.register_profile("agentrunproof", deadline=None)
settings.register_profile("brief", deadline=None, max_examples=25)
settings.load_profile("agentrunproof")
