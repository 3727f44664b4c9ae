"""vi: edit a file on the whole screen, by the usual keys.

Keys come from standard input, single or many at once. It has no visual mode, marks, macros or named buffers, and searches for
plain text.
"""

from __future__ import annotations

import re
from typing import Final

from simcloud.machine.files import FileError
from simcloud.machine.process import Context
from simcloud.userland.commands.registry import command
from simcloud.userland.commands.screen import CLEAR, ENTER, LEAVE, get_size

KEY: Final = re.compile(r"\x1b(?:\[|O)[A-DHF]|\r\n|.", re.DOTALL)
ARROWS: Final = {"A": "k", "B": "j", "C": "l", "D": "h", "H": "0", "F": "$"}
STEPS: Final = {"h": (0, -1), "l": (0, 1), " ": (0, 1), "j": (1, 0), "k": (-1, 0), "\n": (1, 0), "\r": (1, 0)}
ALIASES: Final = {"x": "dl", "X": "dh", "D": "d$", "C": "c$", "s": "cl", "S": "cc", "Y": "yy"}
ENTERED: Final = ("\r", "\n", "\r\n")
ERASED: Final = ("\x7f", "\b")
ESCAPES: Final = ("\x1b", "\x03")
LINES_A_TURN: Final = 64
NOT_WRITTEN: Final = "E37: No write since last change (add ! to override)"
SUBSTITUTE: Final = re.compile(r"(%?)s/([^/]*)/([^/]*)(?:/(g?))?")
WORD: Final = re.compile(r"\w+|[^\w\s]+")


@command("vi")
async def vi(ctx: Context) -> int:
    """Edit a file; without a terminal it warns, and ends with its input."""
    operands = [word for word in ctx.args[1:] if not word.startswith(("-", "+"))]
    for stream, words in ((ctx.stdout, "Output is not to"), (ctx.stdin, "Input is not from")):
        if not stream.isatty:
            await ctx.err(f"Vim: Warning: {words} a terminal\n")
    editor = Editor(ctx, operands[0] if operands else "")
    is_shown = ctx.stdout.isatty
    await ctx.out(ENTER if is_shown else "")
    while not editor.is_done:
        await ctx.out(editor.draw() if is_shown else "")
        data = await ctx.stdin.read()
        if not data:
            await ctx.out(
                f"{LEAVE if is_shown else ''}Vim: Error reading input, exiting...\nVim: Finished.\n"
            )
            return 1
        for key in KEY.findall(data.decode(errors="replace")):
            if not editor.is_done:
                ctx.spend_turn(1 + len(editor.lines) // LINES_A_TURN)
                editor.press(ARROWS[key[-1]] if len(key) == 3 else key, is_arrow=len(key) == 3)
    await ctx.out(LEAVE if is_shown else "")
    return 0


class Editor:
    """The text, the cursor and the mode."""

    def __init__(self, ctx: Context, path: str) -> None:
        self._ctx = ctx
        self._path = path
        self.lines = [""]
        self.is_done = False
        self._message = f'"{path}" [New]' if path else ""
        if path and ctx.files.is_file(path):
            text = ctx.files.read(path).decode("utf-8", "surrogateescape")
            self.lines = text.removesuffix("\n").split("\n")
            self._message = f'"{path}" {len(self.lines)}L, {len(text)}B'
        self._row = self._column = self._top = 0
        self._mode = "normal"
        self._typed = ""
        """The command so far: keys of normal mode, or the line that begins with ``:`` or ``/``."""
        self._pattern = ""
        self._yanked: list[str] | str = ""
        """Whole lines, or a part of one."""
        self._undo: list[tuple[list[str], int, int]] = []
        self._saved = list(self.lines)

    def draw(self) -> str:
        """Return the whole screen with the cursor where it belongs."""
        columns, height = get_size(self._ctx)
        self._top = min(max(self._top, self._row - height + 2), self._row)
        shown = [line[:columns] for line in self.lines[self._top : self._top + height - 1]]
        shown += ["~"] * (height - 1 - len(shown))
        last = {"insert": "-- INSERT --", "line": self._typed}.get(self._mode, self._message)
        place = f"\x1b[{self._row - self._top + 1};{min(self._column, columns - 1) + 1}H"
        return f"{CLEAR}{chr(10).join(shown)}\n{last[:columns]}" + (place if self._mode != "line" else "")

    def press(self, key: str, *, is_arrow: bool) -> None:
        """Handle a key."""
        if self._mode == "insert" and not is_arrow:
            self._insert(key)
        elif self._mode == "line":
            self._edit_command_line(key)
        elif key in ESCAPES:
            self._typed = ""
        elif key in ":/" and not self._typed:
            self._mode, self._typed = "line", key
        else:
            self._typed += key
            if self._run_normal(self._typed):
                self._typed = ""
        self._row = min(max(self._row, 0), len(self.lines) - 1)
        longest = len(self.lines[self._row]) - (self._mode != "insert")
        self._column = max(0, min(self._column, longest))

    def _insert(self, key: str) -> None:
        line, column = self.lines[self._row], self._column
        if key in ESCAPES:
            self._mode, self._column = "normal", column - 1
        elif key in ENTERED:
            self.lines[self._row : self._row + 1] = [line[:column], line[column:]]
            self._row, self._column = self._row + 1, 0
        elif key in ERASED:
            self.lines[self._row], self._column = line[: max(0, column - 1)] + line[column:], column - 1
        else:
            self.lines[self._row], self._column = line[:column] + key + line[column:], column + 1

    def _run_normal(self, typed: str) -> bool:
        """Run what was typed; return False while it is incomplete."""
        found = re.fullmatch(r"([1-9]\d*)?([dyc])?([1-9]\d*)?(.*)", typed, re.DOTALL)
        assert found is not None, "all parts are optional"
        count = int((found[1] or found[3] or "0")[:2])
        if found[4] in ("", "g", "r", "Z"):
            return False
        if found[2]:
            self._operate(found[2], found[4], count)
        elif not self._change(found[4], count):
            self._row, self._column = self._find_target(found[4], count) or (self._row, self._column)
        return True

    def _find_target(self, name: str, count: int) -> tuple[int, int] | None:
        """Return where a motion leads, None if it is not one or leads nowhere; a count of 0 was not given."""
        row, column, line = self._row, self._column, self.lines[self._row]
        if name in STEPS:
            down, right = STEPS[name]
            return row + max(count, 1) * down, max(0, column + max(count, 1) * right)
        if name in ("0", "^", "$"):
            return row, {"0": 0, "$": len(line), "^": len(line) - len(line.lstrip())}[name]
        if name in ("gg", "G"):
            return (count or (1 if name == "gg" else len(self.lines))) - 1, 0
        if name in ("n", "N"):
            return self._search(forward=name == "n")
        if name not in ("w", "b"):
            return None
        for _ in range(max(count, 1)):
            near = range(max(0, row - 1), min(row + 2, len(self.lines)))
            places = [(at, word.start()) for at in near for word in WORD.finditer(self.lines[at])]
            if name == "b":
                row, column = max((place for place in places if place < (row, column)), default=(row, 0))
            else:
                end = (row, len(self.lines[row]))
                row, column = min((place for place in places if place > (row, column)), default=end)
        return row, column

    def _search(self, *, forward: bool) -> tuple[int, int] | None:
        pattern, here = re.compile(re.escape(self._pattern)), (self._row, self._column)
        places = [(at, hit.start()) for at, line in enumerate(self.lines) for hit in pattern.finditer(line)]
        if not places:
            self._message = f"E486: Pattern not found: {self._pattern}"
            return None
        ahead = [place for place in places if (place > here if forward else place < here)]
        return (ahead or places)[0 if forward else -1]

    def _operate(self, operator: str, name: str, count: int) -> None:
        """Delete, yank or change up to where a motion leads."""
        row, column = self._row, self._column
        target = (row + max(count, 1) - 1, 0) if name == operator else self._find_target(name, count)
        if target is None:
            return
        self._remember()
        if name in (operator, "j", "k", "G", "gg"):
            first, end = min(row, target[0]), max(row, target[0]) + 1
            self._yanked = self.lines[first:end]
            if operator != "y":
                self.lines[first:end] = [""] if operator == "c" else []
                self.lines = self.lines or [""]
            self._row, self._column = first, 0
        else:
            line = self.lines[row]
            end = target[1] if target[0] == row else len(line) * (target > (row, column))
            if operator == "c" and name == "w":
                end = column + len(line[column:end].rstrip())
            first, end = min(column, end), max(column, end)
            self._yanked = line[first:end]
            if operator != "y":
                self.lines[row] = line[:first] + line[end:]
            self._column = first
        if operator == "c":
            self._mode = "insert"

    def _change(self, name: str, count: int) -> bool:
        """Run a command that is no motion; return whether it is one."""
        line, row, column = self.lines[self._row], self._row, self._column
        if name in ALIASES:
            self._operate(ALIASES[name][0], ALIASES[name][1], count)
        elif name in "iaIAoO":
            self._remember()
            self._mode = "insert"
            if name in "oO":
                self._row += name == "o"
                self.lines.insert(self._row, "")
            indent = len(line) - len(line.lstrip())
            self._column = {"i": column, "a": column + 1, "A": len(line), "I": indent}.get(name, 0)
        elif name[0] == "r":
            self._remember()
            self.lines[row] = line[:column] + name[1] + line[column + 1 :]
        elif name in "pP" and self._yanked:
            self._remember()
            if isinstance(self._yanked, str):
                place = column + (name == "p")
                self.lines[row] = line[:place] + self._yanked * max(count, 1) + line[place:]
            else:
                self._row += name == "p"
                self.lines[self._row : self._row] = self._yanked * max(count, 1)
        elif name == "u" and self._undo:
            self.lines, self._row, self._column = self._undo.pop()
        elif name == "ZZ":
            self._run_line("wq")
        else:
            return False
        return True

    def _remember(self) -> None:
        self._undo.append((list(self.lines), self._row, self._column))

    def _edit_command_line(self, key: str) -> None:
        if key in ENTERED:
            line, self._typed, self._mode = self._typed, "", "normal"
            self._message = line
            if line[0] == "/":
                self._pattern = line[1:] or self._pattern
                self._row, self._column = self._search(forward=True) or (self._row, self._column)
            else:
                self._run_line(line[1:].strip())
        elif key in ESCAPES or (key in ERASED and len(self._typed) == 1):
            self._mode, self._typed = "normal", ""
        else:
            self._typed = self._typed[:-1] if key in ERASED else self._typed + key

    def _run_line(self, line: str) -> None:
        word, _, argument = line.partition(" ")
        found = SUBSTITUTE.fullmatch(line)
        if line.isdecimal():
            self._row = int(line[:9]) - 1
        elif found is not None:
            self._remember()
            for row in range(len(self.lines)) if found[1] else [self._row]:
                self.lines[row] = self.lines[row].replace(found[2], found[3], -1 if found[4] else 1)
        elif word in ("w", "w!", "wq", "wq!", "x"):
            self._save(argument or self._path)
            self.is_done = word not in ("w", "w!") and self._saved == self.lines
        elif word in ("q", "q!"):
            self.is_done = word == "q!" or self._saved == self.lines
            self._message = NOT_WRITTEN
        elif word not in ("", "set"):
            self._message = f"E492: Not an editor command: {line}"

    def _save(self, path: str) -> None:
        text = "".join(f"{line}\n" for line in self.lines)
        try:
            self._ctx.files.write(path, text.encode("utf-8", "surrogateescape"))
        except FileError:
            self._message = f'"{path}" E212: Can\'t open file for writing' if path else "E32: No file name"
            return
        self._saved = list(self.lines)
        self._message = f'"{path}" {len(self.lines)}L, {len(text)}B written'
