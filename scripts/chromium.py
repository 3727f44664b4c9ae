"""A page in headless Chromium, driven over its DevTools protocol."""

from __future__ import annotations

import base64
import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from websockets.sync.client import ClientConnection, connect

PATIENCE_S: Final = 120.0
MAX_MESSAGE_BYTES: Final = 64 * 2**20
OPTIONS: Final = (
    "--headless=new",
    "--no-sandbox",  # root has no sandbox
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--remote-debugging-port=0",
)


class Page:
    """A page of a browser. ``requests`` has the address of everything that it has asked for."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._number = 0
        self._session: str | None = None
        self.requests: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self._call(f"{domain}.enable")

    def _call(self, method: str, **parameters: object) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        self._connection.send(json.dumps(message))
        while (answer := self._receive()).get("id") != self._number:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    def _receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self._connection.recv(PATIENCE_S))
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])
        return message

    def resize(self, width: int, height: int, *, is_dark: bool = False) -> None:
        """Set the size of the window in pixels; narrow ones are telephones."""
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, address: str) -> None:
        """Load a page, and wait until it is complete."""
        self._call("Page.navigate", url=address)
        while self._receive().get("method") != "Page.loadEventFired":
            pass

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in JavaScript; raises ``RuntimeError`` if it fails."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']['text']}")
        return answer["result"].get("value")

    def draw(self) -> bytes:
        """Return what the window shows, as a PNG."""
        return base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"])


@contextmanager
def open_page() -> Iterator[Page]:
    """Start Chromium, and return an empty page."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = ["chromium", *OPTIONS, f"--user-data-dir={folder}"]
        quiet = subprocess.DEVNULL
        with subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet) as browser:
            try:
                address = _find_address(browser, Path(folder) / "DevToolsActivePort")
                with connect(address, max_size=MAX_MESSAGE_BYTES, open_timeout=PATIENCE_S) as connection:
                    yield Page(connection)
            finally:
                browser.terminate()


def _find_address(browser: subprocess.Popen[bytes], file: Path) -> str:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and browser.poll() is None:
        lines = file.read_text().split() if file.exists() else []
        if len(lines) == 2:
            return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        time.sleep(0.05)
    raise RuntimeError("Chromium did not start.")
