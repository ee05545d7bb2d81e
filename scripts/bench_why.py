"""`agentrunproof bench why` from a checkout: how well planted causes are found.

    python scripts/bench_why.py                                   # our own cases
    python scripts/bench_why.py --cases FILE -n 20 --first 1000   # another file's
    python scripts/bench_why.py single_0.9_0.3 'or*'              # some kinds
"""

from __future__ import annotations

import sys

from agentrunproof.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["bench", "why"]
    main.main()
