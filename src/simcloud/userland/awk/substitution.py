"""Replaces matches in strings, for ``sub``, ``gsub`` and ``gensub``."""

from __future__ import annotations

from functools import lru_cache

from simcloud.userland.awk.patterns import Pattern, Pay, Span, charge_matches

Part = str | int
"""Literal text, or the number of a group (0 is the whole match)."""


@lru_cache(maxsize=256)
def simple_replacement(written: str) -> tuple[Part, ...]:
    """A replacement of ``sub`` and ``gsub``: ``&`` is the match, backslashes before it quote it."""
    parts: list[Part] = []
    position = 0
    while position < len(written):
        if written.startswith("\\\\\\&", position):
            parts.append("\\&")
            position += 4
        elif written.startswith("\\\\&", position):
            parts += ["\\", 0]
            position += 3
        elif written.startswith("\\&", position):
            parts.append("&")
            position += 2
        else:
            parts.append(0 if written[position] == "&" else written[position])
            position += 1
    return _join_texts(parts)


@lru_cache(maxsize=256)
def general_replacement(written: str) -> tuple[Part, ...]:
    """A replacement of ``gensub``: ``&`` and ``\\0`` are the match, ``\\1`` to ``\\9`` its groups."""
    parts: list[Part] = []
    position = 0
    while position < len(written):
        char = written[position]
        if char == "\\" and position + 1 < len(written):
            position += 1
            following = written[position]
            if following in "0123456789":
                parts.append(int(following))
            else:
                parts.append(following if following in "\\&" else "\\" + following)
        else:
            parts.append(0 if char == "&" else char)
        position += 1
    return _join_texts(parts)


def _join_texts(parts: list[Part]) -> tuple[Part, ...]:
    joined: list[Part] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return tuple(joined)


def replace_matches(
    text: str, pattern: Pattern, replacement: tuple[Part, ...], which: int, pay: Pay
) -> tuple[str, int]:
    """The text with the match number ``which`` replaced (0: all of them), and how many were."""
    literal = pattern.literal
    plain = "".join(part for part in replacement if isinstance(part, str))
    if literal is not None and which == 0 and not any(isinstance(part, int) for part in replacement):
        count = text.count(literal)
        pay(count * max(0, len(plain) - len(literal)))
        return (text.replace(literal, plain) if count else text), count
    needs_groups = any(isinstance(part, int) and part > 0 for part in replacement)
    pieces: list[str] = []
    position = count = seen = 0
    for span in charge_matches(pattern.matches(text), pay):
        seen += 1
        if which and seen < which:
            continue
        begin, end = span
        pieces.append(text[position:begin])
        groups = pattern.groups(text, begin) if needs_groups else [span]
        pieces += [part if isinstance(part, str) else _group(text, groups, part) for part in replacement]
        position = end
        count += 1
        if which:
            break
    if not count:
        return text, 0
    pieces.append(text[position:])
    return "".join(pieces), count


def _group(text: str, groups: list[Span], number: int) -> str:
    if number >= len(groups):
        return ""
    begin, end = groups[number]
    return text[begin:end] if begin >= 0 else ""
