"""Count the wordings that our style avoids, per package and room.

    python scripts/count_words.py                                       # the table
    python scripts/count_words.py --places participle                   # every place of one pattern
    python scripts/count_words.py --limit scripts/word_limits.toml      # exit 1 when a limit is exceeded
    python scripts/count_words.py --lower scripts/word_limits.toml      # lower the limits to today's counts

Names are read from the syntax tree, prose from docstrings and comments. Other string literals do not count, because
many are what a simulated tool prints. The counts of ``tests`` are shown but have no limit.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

PHRASES = ("so many", "as many as", "that is there", "what is told", "who asks")
PHRASE = re.compile("|".join(rf"\b{phrase.replace(' ', r'[ ]')}\b" for phrase in PHRASES), re.IGNORECASE)
OPENING = re.compile(r"(?:^|(?<=[.!?:] )|\n\n)\s*(?:[-*] )?(?:Who|Whoever|Of each|Nothing)\b")
TOLD = re.compile(r"\btold\b", re.IGNORECASE)
PATTERNS = ("told", "one", "participle", "phrase", "opening")

IRREGULAR_PARTICIPLES = re.compile(
    "begun|bound|broken|built|chosen|done|drawn|found|given|gone|got|held|hidden|kept|known|left|lost|made|meant|met"
    "|paid|said|seen|sent|shown|spoken|taken|thrown|told|understood|written"
)
NOT_PARTICIPLES = re.compile(
    "bleed|breed|ed|embed|exceed|feed|need|proceed|red|reseed|sed|seed|shed|speed|succeed|memcached"
)
"""Verbs and names that end in "ed"."""
ATTRIBUTE_DECORATORS = {"property", "cached_property", "setter"}
"""A property is read like an attribute, for which ``closed`` is a good name."""

SHOWN_PLACES = 10
"""Places named in a failure before the rest is only counted."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
Loop = ast.For | ast.AsyncFor | ast.comprehension


@dataclass(frozen=True)
class Place:
    """One use of an avoided wording."""

    pattern: str
    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} ({self.text})"

    @property
    def package(self) -> str:
        """``simcloud`` or ``aiopslab``, or ``tests``."""
        return self.path.parts[1] if self.path.parts[0] == "src" else self.path.parts[0]

    @property
    def room(self) -> str:
        """The package's folder or module that holds this place; tests are grouped by the room they test."""
        parts = [part for part in self.path.with_suffix("").parts if part != "src"]
        depth = 3 if parts[:2] in (["tests", "simcloud"], ["tests", "aiopslab"]) else 2
        return "/".join(parts[:depth])


def find_places(path: Path, source: str) -> Iterator[Place]:
    """Find the avoided wordings in one module."""
    nodes = list(ast.walk(ast.parse(source)))
    for node in nodes:
        line = getattr(node.target if isinstance(node, ast.comprehension) else node, "lineno", 1)
        for name in _names(node):
            if "told" in name.split("_"):
                yield Place("told", path, line, name)
        if isinstance(node, Loop) and _binds_one(node.target):
            yield Place("one", path, line, "one")
        if isinstance(node, Function) and _is_participle(node):
            yield Place("participle", path, line, node.name)
    for line, text in (*_docstrings(nodes), *_comments(source)):
        for pattern, expression in (("told", TOLD), ("phrase", PHRASE), ("opening", OPENING)):
            for found in expression.finditer(text):
                yield Place(pattern, path, line, found.group().strip())


def _names(node: ast.AST) -> list[str]:
    """The identifiers that a node itself writes."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute):
        return [node.attr]
    if isinstance(node, ast.arg | ast.keyword):
        return [node.arg or ""]
    if isinstance(node, Function | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.alias):
        return [node.asname or node.name.rpartition(".")[2]]
    return []


def _binds_one(target: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "one" for node in ast.walk(target))


def _is_participle(function: Function) -> bool:
    word = function.name.strip("_").partition("_")[0]
    if NOT_PARTICIPLES.fullmatch(word) or any(
        _is_attribute(decorator) for decorator in function.decorator_list
    ):
        return False
    return word.endswith("ed") or IRREGULAR_PARTICIPLES.fullmatch(word) is not None


def _is_attribute(decorator: ast.expr) -> bool:
    name = decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", "")
    return name in ATTRIBUTE_DECORATORS


def _docstrings(nodes: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    """Strings that are statements: docstrings of modules, classes, functions and attributes."""
    for node in nodes:
        text = node.value if isinstance(node, ast.Expr) else None
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            yield text.lineno, _join_lines(text.value)


def _comments(source: str) -> Iterator[tuple[int, str]]:
    """Comments, those of consecutive lines as one text."""
    if "#" not in source:  # tokenizing is slow
        return
    first, last, lines = 0, 0, list[str]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        line = token.start[0]
        if lines and line != last + 1:
            yield first, _join_lines("\n".join(lines))
            lines = []
        if not lines:
            first = line
        lines.append(token.string.lstrip("#:").strip())
        last = line
    if lines:
        yield first, _join_lines("\n".join(lines))


def _join_lines(text: str) -> str:
    """Join the lines of each paragraph, because a phrase may run across them."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text))


def count(places: Sequence[Place]) -> dict[str, dict[str, int]]:
    """Count the places of each package and pattern."""
    packages = sorted({place.package for place in places})
    counts = Counter((place.package, place.pattern) for place in places)
    return {package: {pattern: counts[package, pattern] for pattern in PATTERNS} for package in packages}


def table(places: Sequence[Place]) -> str:
    """Format the counts of each room, and each package's sums."""
    rooms = Counter((place.room, place.pattern) for place in places)
    lines = [_row("room", PATTERNS)]
    for package, sums in count(places).items():
        for room in sorted({place.room for place in places if place.package == package}):
            lines.append(_row(room, [str(rooms[room, pattern]) for pattern in PATTERNS]))
        lines.append(_row(f"all of {package}", list(map(str, sums.values()))))
    return "\n".join(lines)


def _row(title: str, cells: Sequence[str]) -> str:
    return f"{title:28}" + "".join(f"{cell:>12}" for cell in cells)


Limits = Mapping[str, Mapping[str, int]]


def find_excesses(places: Sequence[Place], limits: Limits) -> list[str]:
    """Return a sentence for each package and pattern above its limit; what has no limit may not occur."""
    sentences = []
    for package, sums in count(places).items():
        for pattern, found in sums.items():
            limit = limits.get(package, {}).get(pattern, 0)
            if package == "tests" or found <= limit:
                continue
            all_places = [
                str(place) for place in places if (place.package, place.pattern) == (package, pattern)
            ]
            named = ", ".join(all_places[:SHOWN_PLACES])
            rest = f" and {found - SHOWN_PLACES} more" if found > SHOWN_PLACES else ""
            sentences.append(
                f"{package} has {found} uses of the wording '{pattern}' but its limit is {limit}: {named}{rest}."
            )
    return sentences


def lower(found: Limits, limits: Limits) -> str:
    """Return the text of a limit file that holds the lower of count and limit; a new package gets its counts."""
    lines = [
        "# Maximum number of avoided wordings per package (see scripts/count_words.py). They only go down."
    ]
    for package in sorted({*found, *limits} - {"tests"}):
        sums = found.get(package, dict.fromkeys(PATTERNS, 0))
        lines += ["", f"[{package}]"]
        lines += [
            f"{name} = {min(number, limits.get(package, sums).get(name, number))}"
            for name, number in sums.items()
        ]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, or check or lower the limits. Return the exit code."""
    parser = argparse.ArgumentParser(description="Count the wordings that our style avoids.")
    parser.add_argument("--limit", type=Path, metavar="FILE", help="exit 1 when a count exceeds its limit")
    parser.add_argument("--lower", type=Path, metavar="FILE", help="lower the limits to the present counts")
    parser.add_argument("--places", choices=PATTERNS, help="list every place of one pattern")
    options = parser.parse_args(arguments)
    folders = ("src",) if options.limit else ("src", "tests")
    paths = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    places = [place for path in paths for place in find_places(path.relative_to(ROOT), path.read_text())]
    if options.limit:
        sentences = find_excesses(places, tomllib.loads(options.limit.read_text()))
        for sentence in sentences:
            print(sentence, file=sys.stderr)
        return 1 if sentences else 0
    if options.lower:
        limits = tomllib.loads(options.lower.read_text()) if options.lower.exists() else {}
        options.lower.write_text(lower(count(places), limits))
    elif options.places:
        print("\n".join(str(place) for place in places if place.pattern == options.places))
    else:
        print(table(places))
    return 0


if __name__ == "__main__":
    sys.exit(main())
