"""A uv that is a script of ours and notes what it was asked."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest

#: Does what uv would: `venv` makes an interpreter, `pip compile` a lock of what it was asked for,
#: `pip sync` installs what a lock of ours names, else two packages. `SAY` makes it fail,
#: `SAY_ONLINE` unless it is offline.
FAKE_UV = """
    #!{python}
    import json, os, re, sys
    from pathlib import Path
    with open({log!r}, "a") as log:
        log.write(json.dumps({{"args": sys.argv[1:], "env": sorted(os.environ)}}) + "\\n")
    if os.environ.get("FAIL_AT") in sys.argv:
        sys.exit(os.environ["SAY"])
    if "SAY_ONLINE" in os.environ and "--offline" not in sys.argv:
        sys.exit(os.environ["SAY_ONLINE"])
    if "compile" in sys.argv:
        asked = sys.stdin.read().split()
        names = {{line.split("==")[0] for line in asked}} | {{"openai"}}
        Path(sys.argv[sys.argv.index("--output-file") + 1]).write_text("".join(
            f'[[packages]]\\nname = "{{name}}"\\nversion = "1.0"\\n'
            f'wheels = [{{{{ hashes = {{{{ sha256 = "{{"ab" * 32}}" }}}} }}}}]\\n'
            for name in sorted(names)))
        with open({log!r} + ".asked", "w") as told:
            told.write(" ".join(asked))
    if "sync" in sys.argv:
        home = Path(sys.argv[sys.argv.index("--python") + 1]).parent.parent
        asked = re.findall(r"^([a-z-]+)==(\\S+)", Path(sys.argv[-1]).read_text(), re.MULTILINE)
        for name, version in asked or [("OpenAI", "1.0"), ("openai_agents", "1.0")]:
            info = home / f"lib/python3.12/site-packages/{{name}}-{{version}}.dist-info"
            info.mkdir(parents=True)
            (info / "METADATA").write_text(f"Name: {{name}}\\nVersion: {{version}}\\n")
    if "venv" in sys.argv:
        interpreter = Path(sys.argv[-1], "bin", "python")
        interpreter.parent.mkdir(parents=True)
        interpreter.touch()
"""


def replace_uv(script: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a script in place of uv, and the cache into a folder; gives where its calls are noted."""
    log, uv = folder / "log", folder / "uv"
    uv.write_text(textwrap.dedent(script.format(python=sys.executable, log=str(log))).lstrip())
    uv.chmod(0o755)
    monkeypatch.setattr("uv.find_uv_bin", lambda: str(uv))
    monkeypatch.setenv("AGENTRUNPROOF_CACHE", str(folder / "cache"))
    return log


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the fake uv, which is now in place, notes its calls."""
    return replace_uv(FAKE_UV, tmp_path, monkeypatch)
