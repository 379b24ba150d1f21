"""A headless Chromium for tests of pages, driven over a pipe by its DevTools protocol; nothing else is needed."""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
START = """
import os, sys
ends = [os.dup(int(end)) for end in sys.argv[1:3]]
for end, place in zip(ends, (3, 4)):  # where Chromium reads what it is to do, and where it answers
    os.dup2(end, place)
    os.set_inheritable(place, True)
os.execv(sys.argv[3], sys.argv[3:])
"""
KEYS = {
    "Tab": 9,
    "Enter": 13,
    " ": 32,
    "End": 35,
    "Home": 36,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
}


class Tab:
    """A tab of a browser; `problems` are the errors that its console has shown, and what it asked a network for."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write, self._rest, self._number = read, write, b"", 0
        self._session: str | None = None
        self.problems: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """What the browser answers."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self._note(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = os.read(self._read, 1 << 20)
            assert more, "Chromium has ended"
            self._rest += more
        text, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(text)
        return found

    def _note(self, event: dict[str, Any]) -> None:
        """Keep what went wrong."""
        kind, found = event.get("method"), event.get("params", {})
        if kind == "Runtime.exceptionThrown":
            self.problems.append(found["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif kind == "Log.entryAdded" and found["entry"]["level"] in ("error", "warning"):
            self.problems.append(found["entry"]["text"])
        elif kind == "Runtime.consoleAPICalled":
            self.problems.append(str(found["args"]))
        elif kind == "Network.requestWillBeSent" and not found["request"]["url"].startswith(("file:", "data:")):
            self.problems.append(found["request"]["url"])

    def open(self, path: Path, width: int = 1000, *, dark: bool = False, media: str = "screen") -> None:
        """Show a file at a width, until it is there."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self.call("Page.navigate", url=path.as_uri())
        while self.ask("location.protocol + document.readyState") != "file:complete":
            pass

    def ask(self, code: str) -> Any:
        """The value of an expression in the page."""
        return self.call("Runtime.evaluate", expression=code, returnByValue=True)["result"].get("value")

    def press(self, key: str) -> None:
        """Press and leave a key."""
        about = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": KEYS[key]}
        text = {"text": "\r" if key == "Enter" else key} if key in ("Enter", " ") else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **about, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def click(self, selector: str) -> None:
        """Click on the middle of an element, scrolled to."""
        code = (
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center', "
        )
        code += "behavior: 'instant'}); const b = e.getBoundingClientRect(); "
        code += "return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        x, y = self.ask(code)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def picture(self, path: Path) -> None:
        """The whole page as a PNG."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=self._all())["data"]
        path.write_bytes(base64.b64decode(data))

    def _all(self) -> dict[str, float]:
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}


@contextmanager
def chromium() -> Iterator[Tab]:
    """A browser with one tab, which is gone afterwards."""
    assert CHROMIUM
    to_read, from_us = os.pipe()
    from_it, to_write = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(
            [sys.executable, "-c", START, str(to_read), str(to_write), CHROMIUM, *FLAGS, f"--user-data-dir={folder}"],
            pass_fds=(to_read, to_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        try:
            yield Tab(from_it, from_us)
        finally:
            os.close(from_us)
            os.close(from_it)
            process.terminate()
            process.wait()
