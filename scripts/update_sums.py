"""Write SHA256SUMS: a line for every file in the folders that ``check-sums`` covers."""

from __future__ import annotations

from pathlib import Path

from agentrunproof import canonical
from agentrunproof.attest import sums
from agentrunproof.cli.evidence import COVERED
from agentrunproof.lab import evidence
from agentrunproof.record import store

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    names = [f"{folder}/{name}" for folder in COVERED for name in evidence.files_in(ROOT / folder)]
    digests = {name: canonical.digest_bytes(store.read(ROOT / name)).split(":")[1]
               for name in names}
    store.write(ROOT / "SHA256SUMS", sums.text(digests).encode())
    print(f"{len(digests)} files in {', '.join(COVERED)}")


if __name__ == "__main__":
    main()
