"""Write SHA256SUMS: a line for every file in the folders that ``check-sums`` covers."""

from __future__ import annotations

from pathlib import Path

from agentrunproof.attest import sums
from agentrunproof.lab import evidence
from agentrunproof.record import store

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    digests = {name: evidence.checksum(ROOT / name) for name in evidence.covered(ROOT)}
    store.write(ROOT / "SHA256SUMS", sums.text(digests).encode())
    print(f"{len(digests)} files in {', '.join(sums.COVERED)}")


if __name__ == "__main__":
    main()
