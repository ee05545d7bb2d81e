"""What becomes of traces: of each file the format, what was understood, and what was left.

    python scripts/try_importers.py FILE...
"""

from __future__ import annotations

import sys
from pathlib import Path

from agentrunproof.errors import RecordError
from agentrunproof.importers import detect


def main(files: list[str]) -> None:
    """Print a row for each file, as of a Markdown table."""
    print("| file | format | requests | tool calls | messages | left |\n|---|---|---|---|---|---|")
    for file in files:
        path = Path(file)
        try:
            found = detect.read(path.read_bytes(), path.name)
        except RecordError as error:
            print(f"| {path.name} | {error.message} | | | | |")
            continue
        left = ", ".join(f"{name} x{count}" for name, count in found.left.items())
        print(f"| {path.name} | {found.format} | {found.model_calls} | {found.tool_calls} | "
              f"{found.messages} | {left} |")


if __name__ == "__main__":
    main(sys.argv[1:])
