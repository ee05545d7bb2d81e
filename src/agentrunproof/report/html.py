"""Self-contained HTML pages: no network, no other file, and no script but the page's own.

A page with a script is a skeleton (``NAME.html``), a style (``base.css``, ``NAME.css``), a script
(``base.js``, ``NAME.js``) and one table of data, all of them in one file.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

from agentrunproof.report.markup import Html, element


def page(name: str, data: Any) -> str:
    """A page; its policy lets no script run but its own, whatever the data say.

    Args:
        name: of its parts, which lie beside this module.
        data: the JSON that its script reads.
    """
    style = _part("base.css") + _part(f"{name}.css")
    script = _part("base.js") + _part(f"{name}.js")
    policy = (f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
              "img-src data:; base-uri 'none'; form-action 'none'")
    table = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # "</script>" inside a string would end the element that holds the data.
    parts = {"POLICY": policy, "STYLE": style, "SCRIPT": script,
             "DATA": table.replace("<", "\\u003c")}
    return re.sub("@([A-Z]+)@", lambda place: parts[place[1]], _part(f"{name}.html"))


def still(name: str, title: str, body: Html) -> str:
    """A page without any script.

    Args:
        name: of its style, which lies beside this module.
        title: of the page.
        body: what stands in it.
    """
    style = _part("base.css") + _part(f"{name}.css")
    policy = f"default-src 'none'; style-src '{_hash(style)}'; base-uri 'none'; form-action 'none'"
    return "\n".join((
        '<!doctype html>', '<html lang="en">', '<head>', '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        element("title", title), f"<style>{style}</style>", "</head>",
        f"<body>{body}</body>", "</html>", ""))


def _part(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The name by which a content security policy allows this very text."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
