"""Chromium on a pipe: enough of the DevTools protocol to open a page and use it."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

#: Seconds within which the browser must answer.
PATIENCE = 30.0

Message = dict[str, Any]


def find() -> str | None:
    """The browser's program, if there is one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Page:
    """One open page.

    Args:
        process: the browser.
        commands: where to write to it.
        answers: where to read from it.
    """

    def __init__(self, process: subprocess.Popen[bytes], commands: int, answers: int) -> None:
        self._process = process
        self._commands, self._answers = commands, answers
        self._rest = b""
        self._count = 0
        self._session = ""
        self._events: list[Message] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target,
                                   flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._call(f"{domain}.enable")
        self._call("Page.setLifecycleEventsEnabled", enabled=True)

    def open(self, url: str, width: int = 1400, height: int = 900, scheme: str = "light") -> None:
        """Load a page afresh, in a window of that size in CSS pixels."""
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                   deviceScaleFactor=1, mobile=width < 500)
        self._call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}])
        self._load("about:blank")  # a new fragment alone would load nothing
        self._events.clear()
        self._load(url)

    def _load(self, url: str) -> None:
        loader = self._call("Page.navigate", url=url)["loaderId"]
        self._until(lambda: any(
            event["method"] == "Page.lifecycleEvent" and event["params"]["name"] == "load"
            and event["params"]["loaderId"] == loader for event in self._events))

    def run(self, script: str) -> Any:
        """The JSON value of an expression; it is run past the policy of the page."""
        result = self._call("Runtime.evaluate", expression=script, returnByValue=True,
                            awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def press(self, key: str) -> None:
        """A key, as the keyboard gives it."""
        text = {"Enter": "\r", " ": " "}.get(key, "")
        for kind in ("keyDown" if text else "rawKeyDown", "keyUp"):
            self._call("Input.dispatchKeyEvent", type=kind, key=key, text=text,
                       windowsVirtualKeyCode=9 if key == "Tab" else 0)

    def click(self, selector: str) -> None:
        """A click of the mouse into the middle of an element."""
        x, y = self.point(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left",
                       clickCount=1)

    def point(self, selector: str) -> tuple[float, float]:
        """Move the mouse to the middle of an element; where that is."""
        x, y = self.run(f"(() => {{ const node = document.querySelector({json.dumps(selector)});"
                        "node.scrollIntoView({block: 'center', inline: 'center'});"
                        "const box = node.getBoundingClientRect();"
                        "return [box.x + box.width / 2, box.y + box.height / 2]; })()")
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        return x, y

    def picture(self) -> bytes:
        """What is seen, as PNG."""
        return base64.b64decode(self._call("Page.captureScreenshot")["data"])

    def complaints(self) -> list[Message]:
        """Errors of scripts, and what the browser logged: broken policies, failed requests."""
        self.run("1")  # what came before this has been said by now
        return [event for event in self._events if event["method"] in (
            "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")]

    def _call(self, method: str, **parameters: Any) -> Message:
        self._count += 1
        number = self._count
        message: Message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        answer = self._until(lambda: self._answer(number))
        assert "error" not in answer, (method, answer["error"])
        result: Message = answer["result"]
        return result

    def _answer(self, number: int) -> Message | None:
        return next((event for event in self._events if event.get("id") == number), None)

    def _until(self, met: Any) -> Any:
        """Take in what the browser says until a condition is met; what it then is."""
        end = time.monotonic() + PATIENCE
        while not (found := met()):
            ready, _, _ = select.select([self._answers], [], [], end - time.monotonic())
            data = os.read(self._answers, 1 << 20) if ready else b""
            if not data:
                raise AssertionError(f"the browser does not answer (exit {self._process.poll()})")
            *whole, self._rest = (self._rest + data).split(b"\0")
            self._events += [{"method": "", **json.loads(one)} for one in whole]
        return found


@contextmanager
def opened(program: str, profile: Path) -> Iterator[Page]:
    """A browser without a window; it is ended in the end.

    Args:
        program: from `find`.
        profile: an empty folder, or one to be made.
    """
    read_commands, commands = os.pipe()
    answers, write_answers = os.pipe()

    def plug() -> None:  # the browser reads from 3 and writes to 4
        first, second = os.dup(read_commands), os.dup(write_answers)
        os.dup2(first, 3)
        os.dup2(second, 4)

    options = ["--headless", "--remote-debugging-pipe", f"--user-data-dir={profile}",
               "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage",
               "--disable-background-networking", "--disable-component-update"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--no-sandbox")  # Chromium has none for root
    process = subprocess.Popen([program, *options], preexec_fn=plug, pass_fds=(3, 4),
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    os.close(read_commands)
    os.close(write_answers)
    try:
        yield Page(process, commands, answers)
    finally:
        os.close(commands)  # which ends it
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
        os.close(answers)
