"""A path as people write one in a flag: with or without braces, with or without the first dot."""

from __future__ import annotations

import re

from simcloud.kubectl.jsonpath.nodes import JsonPathError

_FORM = re.compile(r"\{\.?([^{}]+)\}\Z|\.?([^{}]+)\Z")


def complete_path(path: str) -> str:
    """Return the full path, like ``{.metadata.name}``; raises ``JsonPathError`` if it is not a single path."""
    if not path:
        return path
    match = _FORM.match(path)
    if match is None:
        raise JsonPathError(
            "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'"
        )
    return "{." + (match[1] or match[2]) + "}"
