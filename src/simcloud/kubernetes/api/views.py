"""The parts of an object that an update through each path may change, and the checks of each path.

An object is written as a whole, or through a subresource that represents a part of it. Subresources that are actions
(binding, eviction …) are not views.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from simcloud.kubernetes.api.context import Write
from simcloud.kubernetes.api.field_errors import FieldError
from simcloud.kubernetes.api.strategies import (
    prepare_ephemeral_containers,
    prepare_finalize,
    prepare_resize,
    prepare_status_update,
    prepare_update,
)
from simcloud.kubernetes.api.validation import metadata, validate_update
from simcloud.kubernetes.api.validation.core import namespace_finalize
from simcloud.kubernetes.api.validation.pods import validate_ephemeral_containers, validate_resize


class View(NamedTuple):
    """Puts back what a write may not change, and says which rules the rest breaks."""

    prepare: Callable[[Write], None]
    problems: Callable[[Write], list[FieldError]]


def _part(rules: Callable[[Write], list[FieldError]]) -> Callable[[Write], list[FieldError]]:
    """The rules of a part, after those that hold for the metadata of everything."""
    return lambda write: metadata.on_update(write.resource, write.new, write.before) + rules(write)


_WHOLE: Final = View(
    lambda write: prepare_update(write.resource, write.new, write.before),
    lambda write: validate_update(write.resource, write.new, write.before),
)
_STATUS: Final = View(
    lambda write: prepare_status_update(write.resource, write.new, write.before, now=write.api.timestamp()),
    lambda write: metadata.on_update(write.resource, write.new, write.before),
)

VIEWS: Final[dict[str, View]] = {
    "": _WHOLE,
    "scale": _WHOLE,
    "status": _STATUS,
    "approval": _STATUS,
    "ephemeralcontainers": View(
        lambda write: prepare_ephemeral_containers(write.new, write.before),
        _part(lambda write: validate_ephemeral_containers(write.new, write.before)),
    ),
    "resize": View(
        lambda write: prepare_resize(write.new, write.before),
        _part(lambda write: validate_resize(write.new, write.before)),
    ),
    "finalize": View(
        lambda write: prepare_finalize(write.new, write.before),
        _part(lambda write: namespace_finalize(write.new, write.before)),
    ),
}
"""By the subresource's name; the empty one is the object itself."""
