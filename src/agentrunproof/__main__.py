"""``python -m agentrunproof``."""

from agentrunproof.cli.main import main

main()
