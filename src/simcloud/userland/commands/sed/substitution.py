"""The ``s`` command: finds matches and builds their replacements."""

from __future__ import annotations

from simcloud.patterns import Match, Search, char_at
from simcloud.userland.commands.sed.script import CaseChange, LiteralText, Part, Substitution


def substitute(text: bytes, command: Substitution, search: Search, *, utf8: bool) -> bytes | None:
    """The text with its matches replaced; None if there was nothing to replace."""
    out: list[bytes] = []
    position = 0
    matched_end = -1
    count = 0
    replaced = False
    while position <= len(text) and (found := search(text, position)) is not None:
        begin, end = found.span()
        out.append(text[position:begin])
        # An empty match right behind the last one is none.
        if begin != end or begin != matched_end:
            count += 1
            if count < command.number:
                out.append(text[begin:end])
            else:
                out.append(expand(command.parts, found, utf8=utf8))
                replaced = True
        matched_end = position = end
        if begin == end:
            width = max(1, char_at(text, end, utf8=utf8)[1])
            out.append(text[end : end + width])
            position = end + width
        if replaced and not command.everywhere:
            break
    if not replaced:
        return None
    out.append(text[position:])
    return b"".join(out)


def expand(parts: tuple[Part, ...], found: Match, *, utf8: bool) -> bytes:
    """A replacement with its groups filled in and its case changed."""
    out: list[bytes] = []
    lasting = once = ""
    for part in parts:
        if isinstance(part, CaseChange):
            if part.mark in "ul":
                once = part.mark
            else:
                lasting = "" if part.mark == "E" else part.mark
            continue
        text = part.text if isinstance(part, LiteralText) else found.group(part.index) or b""
        if text and (lasting or once):
            text = _in_case(text, lasting, once, utf8)
            once = ""
        out.append(text)
    return b"".join(out)


def _in_case(text: bytes, lasting: str, once: str, utf8: bool) -> bytes:
    if not utf8:
        changed = _bytes_in_case(text, lasting)
        return _bytes_in_case(changed[:1], once.upper()) + changed[1:] if once else changed
    characters = [_character_in_case(char, lasting) for char in text.decode("utf-8", "surrogateescape")]
    if once:
        characters[0] = _character_in_case(characters[0], once.upper())
    return "".join(characters).encode("utf-8", "surrogateescape")


def _bytes_in_case(text: bytes, case: str) -> bytes:
    return text.upper() if case == "U" else text.lower() if case == "L" else text


def _character_in_case(char: str, case: str) -> str:
    changed = char.upper() if case == "U" else char.lower() if case == "L" else char
    return changed if len(changed) == 1 else char
