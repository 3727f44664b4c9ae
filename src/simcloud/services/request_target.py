"""What an HTTP request asks for: a path and parameters, whatever bytes a stranger has sent as its target."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qs, unquote

from simcloud.machine.network.http import HttpRequest

MAX_QUERY: Final = 8_192
MAX_PARAMETERS: Final = 256


def target_of(request: HttpRequest) -> tuple[str, dict[str, list[str]]]:
    """The path, decoded, and the values of each parameter; what is no UTF-8 is replaced."""
    text = request.path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    path, _, query = text.partition("?")
    try:
        parameters = parse_qs(query[:MAX_QUERY], keep_blank_values=True, max_num_fields=MAX_PARAMETERS)
    except ValueError:
        parameters = {}
    return unquote(path), parameters
