"""Sums of resource lists, and the resource requests of a whole pod.

An amount keeps the suffix family of its text: a sum is formatted in the suffixes of its first part, as in Kubernetes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Final, NamedTuple

from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.objects import Object

_POD_WIDE: Final = ("cpu", "memory")


class Amount(NamedTuple):
    """A quantity and the suffixes to print it with."""

    value: Fraction
    family: str = "decimal"

    def __str__(self) -> str:
        return quantity.render(self.value, self.family)

    def plus(self, other: Amount) -> Amount:
        """The sum, in this one's suffixes unless this is nothing."""
        return Amount(self.value + other.value, self.family if self.value else other.family)


Amounts = dict[str, Amount]
ONE: Final = Amount(Fraction(1))


def amount(text: str | int | float) -> Amount:
    """An amount from its text."""
    said = str(text)
    family = "binary" if said.endswith("i") else "exponent" if "e" in said else "decimal"
    return Amount(quantity.parse(said), family)


def parse_amounts(said: Mapping[str, str] | None) -> Amounts:
    """A resource list."""
    return {name: amount(text) for name, text in (said or {}).items()}


def add(*lists: Amounts) -> Amounts:
    """The sum of resource lists."""
    total: Amounts = {}
    for listed in lists:
        for name, value in listed.items():
            total[name] = total[name].plus(value) if name in total else value
    return total


def largest(lists: Iterable[Amounts]) -> Amounts:
    """Of every resource the largest amount."""
    most: Amounts = {}
    for listed in lists:
        for name, value in listed.items():
            if name not in most or value.value > most[name].value:
                most[name] = value
    return most


def pod_amounts(spec: Object, part: str, unsaid: Amounts | None = None) -> Amounts:
    """What a pod needs at once, of ``requests`` or ``limits``: its containers, or the largest step of its start.

    ``unsaid`` is what a container counts for where it says nothing itself.
    """
    total = containers_amounts(spec, part, unsaid)
    for name, value in _of(spec, part).items():
        if name in _POD_WIDE or name.startswith("hugepages-"):
            total[name] = value
    overhead = parse_amounts(spec.get("overhead"))
    if part == "limits":
        overhead = {name: value for name, value in overhead.items() if name in total}
    return add(total, overhead)


def containers_amounts(spec: Object, part: str, unsaid: Amounts | None = None) -> Amounts:
    """What a pod's containers need at once: those that run together, or the largest step of the start."""
    counted = {**(unsaid or {})}
    running = add(*({**counted, **_of(container, part)} for container in spec.get("containers") or ()))
    sidecars: Amounts = {}
    steps: list[Amounts] = []
    for container in spec.get("initContainers") or ():
        own = {**counted, **_of(container, part)}
        if container.get("restartPolicy") == "Always":
            sidecars = add(sidecars, own)
            steps.append(sidecars)
        else:
            steps.append(add(sidecars, own))
    return largest([add(running, sidecars), *steps])


def _of(holder: Object, part: str) -> Amounts:
    return parse_amounts((holder.get("resources") or {}).get(part))
