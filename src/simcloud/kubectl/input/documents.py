"""The YAML and JSON documents that the text of a file holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.input.yaml_text import BadYaml, read_yaml
from simcloud.kubernetes.api import ApiError
from simcloud.kubernetes.api.schema import go_json, parse_json


def parse_documents(data: bytes, source: str) -> Iterator[Any]:
    """Yield the YAML or JSON documents of a file; raise ``KubectlError`` at the first mistake."""
    if data.lstrip().startswith(b"{"):
        read = _json_documents(data, source)
        yield from read.values
        if not read.rest:
            return
        try:
            yield read_yaml(read.rest)
        except BadYaml:
            raise KubectlError(f"error parsing {source}: {read.fault}") from None
        return
    for text in _parts(data):
        try:
            yield read_yaml(text)
        except BadYaml as error:
            raise KubectlError(f"error parsing {source}: error converting YAML to JSON: {error}") from None


class _Json(Struct):
    """The values of a JSON stream, and the rest that is not JSON."""

    values: list[Any] = field(default_factory=list)
    rest: bytes = b""
    fault: str = ""
    """Why the rest is not JSON; reported if it is not YAML either."""


def _json_documents(data: bytes, source: str) -> _Json:
    text, place = data.decode(errors="replace"), 0
    decoder, read = json.JSONDecoder(), _Json()
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        try:
            _, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            read.rest = _not_json(text[place:], source)
            offset = getattr(error, "pos", place) - place + 1
            read.fault = f"json: offset {offset}: {go_json.find_syntax_error(read.rest)}"
            return read
        try:
            read.values.append(parse_json(text[place:end].encode())[0])
        except ApiError as error:
            raise KubectlError(f"error parsing {source}: {error.message}") from None
        place = end
    return read


def _not_json(rest: str, source: str) -> bytes:
    depth, quoted, escaped = 0, False, False
    for letter in rest:
        if quoted:
            quoted, escaped = escaped or letter != '"', not escaped and letter == "\\"
        elif letter == '"':
            quoted = True
        else:
            depth += (letter in "{[") - (letter in "}]")
    if quoted or depth > 0:
        raise KubectlError(f"error parsing {source}: unexpected EOF")
    return rest.encode()


def _parts(data: bytes) -> Iterator[bytes]:
    """Split a file at the lines that hold only ``---``."""
    part: list[bytes] = []
    for line in data.splitlines(keepends=True):
        if line.startswith(b"---") and not line[3:].strip():
            yield b"".join(part)
            part = []
        else:
            part.append(line)
    yield b"".join(part)
