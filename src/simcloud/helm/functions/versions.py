"""Functions on semantic versions."""

from __future__ import annotations

import re
from typing import Any, Final

from msgspec import Struct

from simcloud.golang.template import CallError, Function, GoObject

_VERSION: Final = re.compile(
    r"v?(\d{1,19})(?:\.(\d{1,19}))?(?:\.(\d{1,19}))?(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?\Z"
)
_BOUND: Final = re.compile(
    r"\s*(=|==|!=|>|<|>=|=>|<=|=<|~|~>|\^|)\s*v?(\d+|[xX*])(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?"
    r"(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?\s*\Z"
)
_HYPHEN: Final = re.compile(r"\s*(\S+)\s+-\s+(\S+)\s*\Z")


class Version(GoObject, Struct, frozen=True):
    """A version of three numbers, perhaps not yet released."""

    major: int
    minor: int
    patch: int
    before: str = ""
    build: str = ""
    original: str = ""

    go_type = "*semver.Version"

    def go_text(self) -> str:
        """Written out in full."""
        text = f"{self.major}.{self.minor}.{self.patch}"
        return text + (f"-{self.before}" if self.before else "") + (f"+{self.build}" if self.build else "")

    def go_method(self, name: str) -> Function | None:
        """Its parts."""
        parts: dict[str, Any] = {
            "Major": self.major, "Minor": self.minor, "Patch": self.patch, "Prerelease": self.before,
            "Metadata": self.build, "Original": self.original, "String": self.go_text(),
        }  # fmt: skip
        if name == "Compare":
            return Function(lambda other: _compare(self.order(), other.order()), 1, 1, (self.go_type,))
        return Function(lambda: parts[name], 0, 0) if name in parts else None

    def order(self) -> tuple[Any, ...]:
        """What versions are compared by: one that is not released comes before the one that is."""
        words = tuple(
            (0, int(word), "") if word.isdigit() else (1, 0, word) for word in self.before.split(".")
        )
        return (self.major, self.minor, self.patch, not self.before, words if self.before else ())


def _compare(one: tuple[Any, ...], other: tuple[Any, ...]) -> int:
    return (one > other) - (one < other)


def read_version(text: str) -> Version:
    """The version that a text says; raises ``CallError``."""
    found = _VERSION.match(text)
    if found is None:
        raise CallError("Invalid Semantic Version" if text else "Version string empty")
    major, minor, patch, before, build = found.groups()
    return Version(int(major), int(minor or 0), int(patch or 0), before or "", build or "", text)


def semver_matches(constraint: str, version: Version) -> bool:
    """Whether a version is within bounds such as ``>=1.2 <2 || ~3.1``."""
    held = [_all_hold(part, version) for part in constraint.split("||")]  # all, to refuse improper ones
    return any(held)


def _all_hold(part: str, version: Version) -> bool:
    hyphen = _HYPHEN.match(part)
    if hyphen:
        part = f">={hyphen[1]},<={hyphen[2]}"
    pieces = re.sub(r"([=<>!~^])\s+(?=v?[\dxX*])", r"\1", part.strip()).replace(",", " ").split()
    held = [_holds(piece, version, part) for piece in pieces or ["*"]]
    return all(held)


def _holds(piece: str, version: Version, whole: str) -> bool:
    found = _BOUND.match(piece)
    if found is None:
        raise CallError(f"improper constraint: {whole}")
    sign, major, minor, patch, before = found.groups()
    if version.before and not before:
        return False
    numbers = [int(part) if part and part not in "xX*" else None for part in (major, minor, patch)]
    low = Version(numbers[0] or 0, numbers[1] or 0, numbers[2] or 0, before or "")
    if numbers[0] is None:
        return sign not in ("!=", "<", ">")
    order, least = version.order(), low.order()
    if sign in ("", "=", "==", "~", "~>") and (None in numbers or sign.startswith("~")):
        return order >= least and order < _above(numbers, 1 if numbers[1] is not None else 0)
    if sign == "^":
        place = next((at for at, number in enumerate(numbers) if number), None)
        place = place if place is not None else max(at for at, n in enumerate(numbers) if n is not None)
        return order >= least and order < _above(numbers, place)
    if sign in (">", "<=", "=<") and None in numbers:
        inside = order < _above(numbers, 1 if numbers[1] is not None else 0)
        return not inside if sign == ">" else inside
    if sign == "!=" and None in numbers:
        return not (order >= least and order < _above(numbers, 1 if numbers[1] is not None else 0))
    return {
        "": order == least, "=": order == least, "==": order == least, "!=": order != least, ">": order > least,
        "<": order < least, ">=": order >= least, "=>": order >= least, "<=": order <= least, "=<": order <= least,
    }[sign]  # fmt: skip


def _above(numbers: list[int | None], place: int) -> tuple[Any, ...]:
    """The first version that differs in a place, its forerunners included."""
    kept = [number or 0 for number in numbers[: place + 1]]
    kept[-1] += 1
    return (*kept, *([0] * (3 - len(kept))), False, ())


def _semver_compare(constraint: str, version: str) -> bool:
    return semver_matches(constraint, read_version(version))


VERSIONS: dict[str, Function] = {
    "semver": Function(read_version, 1, 1, ("string",)),
    "semverCompare": Function(_semver_compare, 2, 2, ("string", "string")),
}
