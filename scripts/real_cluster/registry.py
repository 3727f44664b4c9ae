"""A read-only image registry over a folder, for containerd as the mirror of every registry.

    python3 registry.py FOLDER

With a registry, images are pulled, missing and refused as anywhere; manifests with ``imagePullPolicy: Always`` work. It answers as Docker
Hub does: 404 for a tag that an existing repository lacks, no access to repositories that do not exist. Runs on a node with
Debian's Python, so it uses only the standard library.

Files: ``REGISTRY/REPOSITORY/TAG`` is a manifest, ``blobs/sha256:HASH`` everything that has a digest.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

PORT = 5000
MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
REQUEST = re.compile(
    r"/v2/(?P<repository>[a-z0-9._/-]+)/(?P<kind>manifests|blobs)/(?P<reference>[A-Za-z0-9._:-]+)"
)


class Handler(BaseHTTPRequestHandler):
    """Answers GET and HEAD of the registry API."""

    protocol_version = "HTTP/1.1"
    folder: Path

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path in ("/v2/", "/token"):
            self._answer(200, b'{"token": "anonymous"}', "application/json")
        elif (asked := REQUEST.fullmatch(url.path)) is None or ".." in url.path:
            self._refuse(404, "NAME_INVALID")
        else:
            registry = parse_qs(url.query).get("ns", ["docker.io"])[0]
            self._serve(self.folder / registry / asked["repository"], asked["kind"], asked["reference"])

    def do_HEAD(self) -> None:
        self.do_GET()

    def _serve(self, repository: Path, kind: str, reference: str) -> None:
        file = (self.folder / "blobs" if ":" in reference else repository) / reference
        if not repository.is_dir():
            self._refuse(401, "UNAUTHORIZED")
        elif not file.is_file():
            self._refuse(404, "MANIFEST_UNKNOWN" if kind == "manifests" else "BLOB_UNKNOWN")
        elif kind == "manifests":
            self._answer(200, file.read_bytes(), MANIFEST)
        else:
            self.send_response(200)
            self.send_header("Content-Type", "application/octet-stream")
            self.send_header("Content-Length", str(file.stat().st_size))
            self.end_headers()
            if self.command == "GET":
                with file.open("rb") as blob:
                    shutil.copyfileobj(blob, self.wfile)

    def _refuse(self, status: int, code: str) -> None:
        self._answer(status, json.dumps({"errors": [{"code": code}]}).encode(), "application/json")

    def _answer(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Docker-Content-Digest", f"sha256:{hashlib.sha256(body).hexdigest()}")
        if status == 401:
            error = ',error="insufficient_scope"' if "Authorization" in self.headers else ""
            realm = f"http://{self.headers['Host']}/token"
            self.send_header("WWW-Authenticate", f'Bearer realm="{realm}",service="registry"{error}')
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)


def main() -> None:
    """Serve until killed."""
    Handler.folder = Path(sys.argv[1])
    ThreadingHTTPServer(("", PORT), Handler).serve_forever()


if __name__ == "__main__":
    main()
