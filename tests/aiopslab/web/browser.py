"""A headless Chromium, driven by its DevTools protocol."""

from __future__ import annotations

import json
import subprocess
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.request import urlopen

from websockets.sync.client import ClientConnection, connect

CHROMIUM: Final = "/usr/bin/chromium"
PATIENCE_S: Final = 120.0
FLAGS: Final = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-proxy-server",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps",
    "--disable-extensions", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--remote-debugging-port=0",
)  # fmt: skip
LAPTOP: Final = (1366, 800)
PHONE: Final = (390, 844)
KEYS: Final = {
    "Enter": (13, "\r"),
    "Tab": (9, ""),
    "ArrowUp": (38, ""),
    "ArrowRight": (39, ""),
    "End": (35, ""),
}


class Browser:
    """One page. ``requests`` are the addresses that it asked for, ``errors`` what went wrong in its scripts."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._numbers = count(1)
        self.requests: list[str] = []
        self.errors: list[str] = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.resize(*LAPTOP)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result; events that come meanwhile are noted."""
        number = next(self._numbers)
        self._connection.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._connection.recv(PATIENCE_S))
            if message.get("id") == number:
                assert "error" not in message, f"{method}: {message['error']}"
                result: dict[str, Any] = message["result"]
                return result
            self._note(message)

    def _note(self, event: dict[str, Any]) -> None:
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            entry = parameters["entry"]
            self.errors.append(f"{entry['text']} {entry.get('url', '')}")

    def open(self, address: str) -> None:
        """Open an address."""
        self.call("Page.navigate", url=address)

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def wait_for(self, expression: str) -> Any:
        """Wait until an expression is true, and return its value."""
        deadline = time.monotonic() + PATIENCE_S
        while not (value := self.evaluate(expression)):
            assert time.monotonic() < deadline, (
                f"{expression} stayed false; the page: {self.text}; {self.errors}"
            )
            time.sleep(0.1)
        return value

    def wait_for_text(self, text: str, selector: str = "main") -> None:
        """Wait until an element has a text."""
        query = f"document.querySelector({json.dumps(selector)})"
        self.wait_for(f"({query}?.innerText || '').includes({json.dumps(text)})")

    @property
    def text(self) -> str:
        """The visible text of the page."""
        return str(self.evaluate("document.body.innerText"))

    def click(self, selector: str) -> None:
        """Click the first element of a selector, once it is there."""
        query = f"document.querySelector({json.dumps(selector)})"
        self.wait_for(f"{query} !== null && !{query}.disabled")
        self.evaluate(f"{query}.click()")

    def choose(self, selector: str, value: str) -> None:
        """Set the value of a control, as a person would."""
        query = f"document.querySelector({json.dumps(selector)})"
        self.wait_for(f"{query} !== null")
        kinds = (
            "['input', 'change'].forEach((kind) => control.dispatchEvent(new Event(kind, {bubbles: true})))"
        )
        self.evaluate(f"{{ const control = {query}; control.value = {json.dumps(value)}; {kinds}; }}")

    def type(self, text: str) -> None:
        """Type text into the focused element, key by key."""
        for character in text:
            self.call("Input.dispatchKeyEvent", type="keyDown", key=character, text=character)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=character)

    def press(self, key: str) -> None:
        """Press a key."""
        code, text = KEYS[key]
        common = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", **common, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def resize(self, width: int, height: int) -> None:
        """Set the size of the window; narrow ones are phones."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def use_theme(self, theme: str) -> None:
        """Make the system prefer "light" or "dark"."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])

    def take_screenshot(self, path: Path) -> None:
        """Write what is visible to a PNG file."""
        path.write_bytes(b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start a browser with a profile of its own; end it afterwards."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(
            [CHROMIUM, *FLAGS, f"--user-data-dir={folder}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            port = _wait_for_port(Path(folder) / "DevToolsActivePort", process)
            with urlopen(f"http://127.0.0.1:{port}/json/list", timeout=PATIENCE_S) as answer:
                pages = [target for target in json.load(answer) if target["type"] == "page"]
            with connect(pages[0]["webSocketDebuggerUrl"], max_size=None) as connection:
                yield Browser(connection)
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def _wait_for_port(file: Path, process: subprocess.Popen[bytes]) -> int:
    deadline = time.monotonic() + PATIENCE_S
    while not file.exists() or not file.read_text().strip():
        assert process.poll() is None, "Chromium ended at once"
        assert time.monotonic() < deadline, "Chromium did not start"
        time.sleep(0.1)
    return int(file.read_text().split()[0])
