"""Content negotiation: JSON, YAML or protobuf; the object itself, a Table, or metadata only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from simcloud.kubernetes.api import NotAcceptable

JSON: Final = "application/json"
YAML: Final = "application/yaml"
PROTOBUF: Final = "application/vnd.kubernetes.protobuf"

_TRANSFORMS: Final = frozenset({"Table", "PartialObjectMetadata", "PartialObjectMetadataList"})
_TRANSFORM_VERSIONS: Final = frozenset({("meta.k8s.io", "v1"), ("meta.k8s.io", "v1beta1")})


@dataclass(frozen=True, slots=True)
class Form:
    """The media type and the conversion of a response."""

    media: str = JSON
    transform: str = ""
    version: str = ""
    pretty: bool = False


_TRUE: Final = frozenset({"1", "t", "T", "true", "TRUE", "True"})
BROWSERS: Final = ("curl", "Wget", "Mozilla/5.0")
"""These show an answer to a person, so it is laid out for reading."""


def wants_pretty(query: Mapping[str, str], agent: str) -> bool:
    """Return whether JSON should be laid out for a person."""
    said = query.get("pretty")
    return said in _TRUE if said else agent.startswith(BROWSERS)


def choose(accept: str, *, transforms: bool = True, protobuf: bool = False, pretty: bool = False) -> Form:
    """Return the first form in an Accept header that can be made. NotAcceptable if there is none."""
    if not accept:
        return Form(pretty=pretty)
    made = (JSON, YAML, PROTOBUF) if protobuf else (JSON, YAML)
    for media, parameters in sorted(map(_clause, accept.split(",")), key=_wish):
        if media in ("*/*", "application/*"):
            media = JSON
        transform = parameters.get("as", "")
        if media not in made or (transform and not (transforms and _is_offered(media, parameters))):
            continue
        return Form(media, transform, parameters.get("v", ""), pretty)
    raise NotAcceptable(f"only the following media types are accepted: {', '.join(made)}")


def _clause(text: str) -> tuple[str, dict[str, str]]:
    media, *parameters = (part.strip() for part in text.split(";"))
    return media, dict(part.split("=", 1) for part in parameters if "=" in part)


def _wish(clause: tuple[str, dict[str, str]]) -> float:
    """Sort by preference; equal ones keep the order of the header."""
    try:
        return -float(clause[1].get("q", "1"))
    except ValueError:
        return -1.0


def _is_offered(media: str, parameters: Mapping[str, str]) -> bool:
    """Return whether a conversion is supported. A Table has no protobuf form."""
    if (parameters.get("g"), parameters.get("v")) not in _TRANSFORM_VERSIONS or parameters[
        "as"
    ] not in _TRANSFORMS:
        return False
    return parameters["as"] != "Table" or media != PROTOBUF
