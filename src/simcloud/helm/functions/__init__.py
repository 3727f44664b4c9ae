"""The functions of chart templates: Go's own, those of the sprig library, and helm's."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from simcloud.golang.template import FUNCTIONS as GO, CallError, Function
from simcloud.helm.functions.collections import COLLECTIONS
from simcloud.helm.functions.dates import dates
from simcloud.helm.functions.encoding import ENCODING
from simcloud.helm.functions.kinds import KINDS
from simcloud.helm.functions.lists import LISTS
from simcloud.helm.functions.numbers import NUMBERS
from simcloud.helm.functions.regexes import REGEXES
from simcloud.helm.functions.texts import TEXTS, random_texts
from simcloud.helm.functions.versions import VERSIONS

_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_KUBECTL_ONLY = ("exists", "base64decode")


def _older(function: Function) -> Function:
    """A comparison as the Go that helm is built with has it, which does not name the types that do not match."""

    def compare(*values: Any) -> Any:
        try:
            return function.call(*values)
        except CallError as error:
            raise CallError(str(error).partition(": ")[0]) from None

    return Function(compare, function.least, function.most, function.wants)


def library_functions(now_s: float, stream: Random) -> Mapping[str, Function]:
    """Every function but those that need the chart: ``now`` and chance are the world's."""
    own = {name: function for name, function in GO.items() if name not in _KUBECTL_ONLY}
    parts = (COLLECTIONS, LISTS, ENCODING, KINDS, NUMBERS, REGEXES, TEXTS, VERSIONS)
    for name in _COMPARISONS:
        own[name] = _older(own[name])
    for part in (*parts, dates(now_s), random_texts(stream)):
        own.update(part)
    return own
