"""Formats names for ls: quoted, marked by type, coloured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from simcloud.machine.files import Stat
from simcloud.userland.commands.file.listing.entries import Entry
from simcloud.userland.commands.file.listing.settings import Settings
from simcloud.userland.commands.text.quoting import quote, quote_name, quote_name_always

C_ESCAPES: Final = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}
COLORS: Final = {"di": "01;34", "ln": "01;36", "pi": "33", "so": "01;35", "bd": "01;33", "cd": "01;33", "ex": "01;32",
                 "su": "37;41", "sg": "30;43", "tw": "30;42", "ow": "34;42", "st": "37;44"}  # fmt: skip


def format_name(settings: Settings, name: str) -> str:
    """Format a name in the selected quoting style."""
    style = settings.quoting
    if style == "literal":
        return _mask_unprintable(name) if settings.question_marks else name
    if style in ("shell", "shell-escape"):
        return quote_name(name)
    if style in ("shell-always", "shell-escape-always"):
        return quote_name_always(name)
    if style == "locale":
        return quote(name)
    if style in ("c", "clocale"):
        return f'"{_c_escaped(name, "")}"'
    if style == "c-maybe":
        escaped = _c_escaped(name, "")
        return escaped if escaped == name else f'"{escaped}"'
    return _c_escaped(name, " ")


def aligns_quotes(settings: Settings) -> bool:
    """Whether names without quotes get a space where others have a quote, so that they line up."""
    return settings.quoting in ("shell", "shell-escape", "c-maybe") and settings.format in (
        "verbose",
        "vertical",
        "horizontal",
    )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _mask_unprintable(name: str) -> str:
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else "?" for byte in _bytes(name))


def _c_escaped(name: str, also: str) -> str:
    quotes = "\\" + also if also else '\\"'
    shown = []
    for byte in _bytes(name):
        letter = chr(byte)
        if letter in quotes:
            shown.append("\\" + letter)
        elif 0x20 <= byte < 0x7F:
            shown.append(letter)
        else:
            shown.append(C_ESCAPES.get(byte, f"\\{byte:03o}"))
    return "".join(shown)


def mark(settings: Settings, found: Stat | None) -> str:
    """Return the type indicator after a name."""
    style = settings.indicator
    if found is None or style == "none":
        return ""
    if found.is_dir:
        return "/"
    if style == "slash":
        return ""
    if found.is_link:
        return "@"
    if found.is_fifo:
        return "|"
    return "*" if style == "classify" and found.is_file and found.mode & 0o111 else ""


class Painter:
    """Colours names. A reset precedes the first colour, as in ls."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._used = False
        self._colors = dict(COLORS)
        self._endings: list[tuple[str, str]] = []
        for item in env.get("LS_COLORS", "").split(":"):
            key, equals, color = item.partition("=")
            if equals and key.startswith("*"):
                self._endings.insert(0, (key[1:], color))
            elif equals:
                self._colors[key] = color

    def paint(self, text: str, entry: Entry, found: Stat | None) -> str:
        """The text in the colour of what it names."""
        color = self._color(entry, found)
        if not color or color in ("0", "00"):
            return text
        reset = "" if self._used else "\033[0m"
        self._used = True
        return f"{reset}\033[{color}m{text}\033[0m"

    def _color(self, entry: Entry, found: Stat | None) -> str:
        if found is None:
            return self._colors.get("mi", "")
        if found.is_link:
            if entry.target_stat is None and "or" in self._colors:
                return self._colors["or"]
            if self._colors["ln"] != "target" or entry.target_stat is None:
                return self._colors["ln"]
            found = entry.target_stat
        if found.is_dir:
            sticky, open_to_all = found.mode & 0o1000, found.mode & 0o002
            return self._colors[
                "tw" if sticky and open_to_all else "ow" if open_to_all else "st" if sticky else "di"
            ]
        if not found.is_file:
            return self._colors["pi" if found.is_fifo else "cd"]
        for bit, key in ((0o4000, "su"), (0o2000, "sg"), (0o111, "ex")):
            if found.mode & bit:
                return self._colors[key]
        ending = next((color for end, color in self._endings if entry.name.endswith(end)), "")
        return ending or self._colors.get("fi", "")
