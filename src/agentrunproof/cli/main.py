"""Entry point of ``agentrunproof`` and ``python -m agentrunproof``."""

from __future__ import annotations

import gc
import signal
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line of this process and exit with its code."""
    # A command is over in seconds and makes few circles: looking for them again and again while a
    # trace is read takes a tenth of its time.
    gc.set_threshold(100_000)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C: in order
    try:
        from agentrunproof.cli.commands import run  # in here, so that Ctrl-C may come at any time

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        from agentrunproof.cli.exits import INTERRUPTED

        code = INTERRUPTED
        print("interrupted", file=sys.stderr)
    sys.exit(code)
