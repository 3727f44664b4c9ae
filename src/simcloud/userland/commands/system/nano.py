"""nano: edit a file on the whole screen; what is typed is text, and Control with a letter is a command.

It has one buffer, one cut text and searches for plain text; there is no help, undo, marking or replacing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from simcloud.machine.files import FileError
from simcloud.machine.process import Context
from simcloud.userland.commands.registry import command
from simcloud.userland.commands.screen import CLEAR, ENTER, INVERSE, LEAVE, get_size

VERSION: Final = "GNU nano 7.2"
KEY: Final = re.compile(r"\x1b(?:\[|O)(?:[A-DHF]|[1-8]~)|\r\n|.", re.DOTALL)
NAMES: Final = {
    "\x1b[A": "up", "\x10": "up", "\x1b[B": "down", "\x0e": "down", "\x1b[C": "right", "\x06": "right",
    "\x1b[D": "left", "\x02": "left", "\x1b[H": "home", "\x1b[1~": "home", "\x01": "home", "\x1b[F": "end",
    "\x1b[4~": "end", "\x05": "end", "\x1b[5~": "page up", "\x19": "page up", "\x1b[6~": "page down",
    "\x16": "page down", "\x1b[3~": "delete", "\x04": "delete", "\x7f": "erase", "\b": "erase", "\r": "enter",
    "\n": "enter", "\r\n": "enter", "\x0b": "cut", "\x15": "paste", "\x0f": "write", "\x18": "exit",
    "\x17": "search", "\x03": "cancel",
}  # fmt: skip
LINES_A_TURN: Final = 64
HELP: Final = (
    "^G Help      ^O Write Out ^W Where Is  ^K Cut       ^T Execute   ^C Location",
    "^X Exit      ^R Read File ^\\ Replace   ^U Paste     ^J Justify   ^/ Go To Line",
)
SAVE: Final = "Save modified buffer? "
WRITE: Final = "File Name to Write: "


@command("nano")
async def nano(ctx: Context) -> int:
    """Edit a file at a terminal."""
    if not ctx.stdin.isatty:
        await ctx.err("Standard input is not a terminal\n")
        return 1
    operands = [word for word in ctx.args[1:] if not word.startswith(("-", "+"))]
    editor = Editor(ctx, operands[0] if operands else "")
    await ctx.out(ENTER)
    while not editor.is_done:
        await ctx.out(editor.draw())
        data = await ctx.stdin.read()
        if not data:
            break
        for key in KEY.findall(data.decode(errors="replace")):
            if not editor.is_done:
                ctx.spend_turn(1 + len(editor.lines) // LINES_A_TURN)
                editor.press(key)
    await ctx.out(LEAVE)
    return 0 if editor.is_done else 1


class Editor:
    """The text, the cursor, and the question in the status bar, if there is one."""

    def __init__(self, ctx: Context, path: str) -> None:
        self._ctx = ctx
        self._path = path
        self.lines = [""]
        self.is_done = False
        self._message = "New File" if path else ""
        if path and ctx.files.is_file(path):
            text = ctx.files.read(path).decode("utf-8", "surrogateescape")
            self.lines = text.split("\n")
            self._message = f"Read {_count(len(text.splitlines()))}"
        self._row = self._column = self._top = 0
        self._saved = list(self.lines)
        self._cut: list[str] = []
        self._is_cutting = False
        self._question = self._typed = self._pattern = ""
        self._exits = False
        """Whether the file is written in order to exit."""

    def draw(self) -> str:
        """Return the whole screen with the cursor where it belongs."""
        columns, height = get_size(self._ctx)
        rows = max(1, height - 2 - len(HELP))
        self._top = min(max(self._top, self._row - rows + 1), self._row)
        shown = [line[:columns] for line in self.lines[self._top : self._top + rows]]
        modified = " Modified" if self.lines != self._saved else ""
        title = f"  {VERSION}{(self._path or 'New Buffer').center(columns - 2 * len(VERSION) - 4)}".ljust(
            columns
        )
        title = title[: columns - len(modified) - 1] + modified + " "
        status = self._question + self._typed if self._question else self._message and f"[ {self._message} ]"
        status = status[:columns] if self._question else status.center(columns).rstrip()
        screen = [INVERSE.format(title[:columns]), *shown, *[""] * (rows - len(shown)), status]
        row, column = self._row - self._top + 2, min(self._column, columns - 1) + 1
        if self._question:
            row, column = rows + 2, len(status) + 1
        return CLEAR + "\n".join([*screen, *(line[:columns] for line in HELP)]) + f"\x1b[{row};{column}H"

    def press(self, key: str) -> None:
        """Handle a key."""
        name = NAMES.get(key, "")
        self._message = ""
        if self._question:
            self._answer(key, name)
            return
        actions: dict[str, Callable[[], None]] = {
            "enter": self._split, "erase": self._erase, "delete": self._delete, "cut": self._cut_line,
            "paste": self._paste, "write": self._ask_name, "exit": self._leave, "search": self._ask_pattern,
            "cancel": self._tell_place,
        }  # fmt: skip
        if name in actions:
            actions[name]()
        elif name:
            self._move(name)
        elif key.isprintable() or key == "\t":
            line = self.lines[self._row]
            self.lines[self._row] = line[: self._column] + key + line[self._column :]
            self._column += 1
        self._is_cutting = name == "cut"

    def _move(self, name: str) -> None:
        page = get_size(self._ctx)[1] - 6
        if name in ("left", "right"):
            self._column += 1 if name == "right" else -1
            if self._column < 0 < self._row:
                self._row -= 1
                self._column = len(self.lines[self._row])
            elif self._column > len(self.lines[self._row]) and self._row + 1 < len(self.lines):
                self._row, self._column = self._row + 1, 0
        elif name in ("home", "end"):
            self._column = len(self.lines[self._row]) * (name == "end")
        else:
            self._row += {"up": -1, "down": 1, "page up": -page, "page down": page}[name]
        self._row = min(max(self._row, 0), len(self.lines) - 1)
        self._column = min(max(self._column, 0), len(self.lines[self._row]))

    def _split(self) -> None:
        line = self.lines[self._row]
        self.lines[self._row : self._row + 1] = [line[: self._column], line[self._column :]]
        self._row, self._column = self._row + 1, 0

    def _erase(self) -> None:
        if self._row or self._column:
            self._move("left")
            self._delete()

    def _delete(self) -> None:
        line, row = self.lines[self._row], self._row
        if self._column < len(line):
            self.lines[row] = line[: self._column] + line[self._column + 1 :]
        elif row + 1 < len(self.lines):
            self.lines[row : row + 2] = [line + self.lines[row + 1]]

    def _cut_line(self) -> None:
        """Cut a line; lines that are cut one after the other stay together."""
        self._cut = [*(self._cut if self._is_cutting else []), self.lines.pop(self._row)]
        self.lines = self.lines or [""]
        self._row, self._column = min(self._row, len(self.lines) - 1), 0

    def _paste(self) -> None:
        self.lines[self._row : self._row] = self._cut
        self._row, self._column = self._row + len(self._cut), 0

    def _tell_place(self) -> None:
        line, lines, columns = self._row + 1, len(self.lines), len(self.lines[self._row]) + 1
        column = self._column + 1
        self._message = f"line {line}/{lines} ({100 * line // lines}%), col {column}/{columns} ({100 * column // columns}%)"

    # -- questions in the status bar -----------------------------------------------------------

    def _ask_name(self) -> None:
        self._question, self._typed = WRITE, self._path

    def _ask_pattern(self) -> None:
        self._question, self._typed = f"Search{f' [{self._pattern}]' if self._pattern else ''}: ", ""

    def _leave(self) -> None:
        if self.lines == self._saved:
            self.is_done = True
        else:
            self._question, self._typed = SAVE, ""

    def _answer(self, key: str, name: str) -> None:
        """Handle a key while a question is asked."""
        if name == "cancel":
            self._question, self._exits, self._message = "", False, "Cancelled"
        elif self._question == SAVE:
            if key in "yY":
                self._exits = True
                self._ask_name()
            self.is_done = key in "nN"
        elif name == "erase":
            self._typed = self._typed[:-1]
        elif name != "enter":
            self._typed += key if key.isprintable() else ""
        else:
            question, self._question = self._question, ""
            self._write(self._typed) if question == WRITE else self._search(self._typed or self._pattern)

    def _write(self, path: str) -> None:
        count = len(self.lines)
        if self.lines[-1]:
            self.lines.append("")  # a text ends with a newline
        else:
            count -= 1
        try:
            self._ctx.files.write(path, "\n".join(self.lines).encode("utf-8", "surrogateescape"))
        except FileError as error:
            self._exits, self._message = (
                False,
                f"Error writing {path}: {error.strerror}" if path else "Cancelled",
            )
            return
        self._saved, self._path = list(self.lines), path
        self._message = f"Wrote {_count(count)}"
        self.is_done = self._exits

    def _search(self, pattern: str) -> None:
        self._pattern = pattern
        here = (self._row, self._column)
        wanted = re.compile(re.escape(pattern))
        places = [(row, hit.start()) for row, line in enumerate(self.lines) for hit in wanted.finditer(line)]
        if not places or not pattern:
            self._message = f'"{pattern}" not found' if pattern else "Cancelled"
            return
        ahead = [place for place in places if place > here]
        self._message = (
            "" if ahead else "This is the only occurrence" if places == [here] else "Search Wrapped"
        )
        self._row, self._column = (ahead or places)[0]


def _count(lines: int) -> str:
    return f"{lines} line{'' if lines == 1 else 's'}"
