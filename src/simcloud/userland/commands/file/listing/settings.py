"""The options of ls. Of options that exclude each other the last one wins."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from msgspec import Struct, field

from simcloud.machine.process import Context
from simcloud.userland.bash.patterns import Pattern, compile_pattern
from simcloud.userland.commands.file.sizes import HUMAN, KIB, SI, BlockSize, block_size
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.counts import parse_number
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import fail, misuse, one_of

OPTIONS: Final = (
    "a,all A,almost-all author b,escape block-size= B,ignore-backups c C color=? colour=? d,directory D,dired f "
    "F classify=? file-type format= full-time g G,no-group group-directories-first h,human-readable si "
    "H,dereference-command-line dereference-command-line-symlink-to-dir hide= hyperlink=? i,inode "
    "I,ignore= indicator-style= k,kibibytes l L,dereference m n,numeric-uid-gid N,literal o p "
    "q,hide-control-chars show-control-chars Q,quote-name quoting-style= r,reverse R,recursive s,size S sort= "
    "t T,tabsize= time= time-style= u U v w,width= x X Z,context zero 1"
)
SORTS: Final = ("none", "time", "size", "extension", "version", "width")
TIMES: Final = ("atime,access,use", "ctime,status", "birth,creation", "mtime,modification")
FORMATS: Final = ("verbose,long", "commas", "horizontal,across", "vertical", "single-column")
STYLES: Final = ("literal", "shell", "shell-always", "shell-escape", "shell-escape-always", "c", "c-maybe", "escape",
                 "locale", "clocale")  # fmt: skip
INDICATORS: Final = ("none", "slash", "file-type", "classify")
WHEN: Final = ("always,yes,force", "never,no,none", "auto,tty,if-tty")
TIME_STYLES: Final = {"full-iso": ("%Y-%m-%d %H:%M:%S.%N %z",) * 2, "long-iso": ("%Y-%m-%d %H:%M",) * 2,
                      "iso": ("%Y-%m-%d ", "%m-%d %H:%M"), "locale": ("%b %e  %Y", "%b %e %H:%M")}  # fmt: skip
COLOR_TERMS: Final = ("color", "ansi", "linux", "screen", "tmux", "vt100", "xterm", "rxvt", "konsole", "putty", "cygwin",
                      "alacritty", "kitty", "st")  # fmt: skip
MAX_WIDTH: Final = 1 << 20


class Follow(Enum):
    """The symbolic links that are followed."""

    NONE = 0
    ARGUMENTS_TO_FOLDERS = 1
    ARGUMENTS = 2
    ALL = 3


class Settings(Struct):
    """The options of a listing."""

    format: str = "single-column"
    sort: str = "name"
    time: str = "mtime"
    reverse: bool = False
    all: str = ""  # "", "almost" or "all"
    hidden: list[Pattern] = field(default_factory=list)
    ignored: list[Pattern] = field(default_factory=list)
    folders_themselves: bool = False
    folders_first: bool = False
    recursive: bool = False
    follow: Follow | None = None
    indicator: str = "none"
    quoting: str = "literal"
    question_marks: bool = False
    inode: bool = False
    blocks: bool = False
    author: bool = False
    owner: bool = True
    group: bool = True
    context: bool = False
    numeric: bool = False
    size: BlockSize = field(default_factory=lambda: BlockSize(1))
    block: BlockSize = KIB
    time_formats: tuple[str, str] = TIME_STYLES["locale"]
    color: bool = False
    width: int = 80
    tab: int = 8
    end: str = "\n"


def read_settings(ctx: Context, options: Options) -> Settings:
    """Return the settings of a command line."""
    settings = Settings()
    if ctx.stdout.isatty:
        settings.format, settings.quoting, settings.question_marks = "vertical", "shell-escape", True
    columns = ctx.env.get("COLUMNS", "")
    settings.width = min(int(columns), MAX_WIDTH) if columns.isdecimal() and int(columns) else 80
    for option, value in options.given:
        if option in _FLAGS:
            for attribute, setting in _FLAGS[option].items():
                setattr(settings, attribute, setting)
        else:
            _apply(ctx, settings, option, value)
    _settle(ctx, settings, options)
    return settings


_FLAGS: Final[dict[str, dict[str, object]]] = {
    "a": {"all": "all"},
    "A": {"all": "almost"},
    "author": {"author": True},
    "b": {"quoting": "escape"},
    "c": {"time": "ctime"},
    "C": {"format": "vertical"},
    "d": {"folders_themselves": True},
    "D": {},
    "file-type": {"indicator": "file-type"},
    "F": {"indicator": "classify"},
    "full-time": {"format": "verbose", "time_formats": TIME_STYLES["full-iso"]},
    "g": {"format": "verbose", "owner": False},
    "G": {"group": False},
    "group-directories-first": {"folders_first": True},
    "h": {"size": HUMAN, "block": HUMAN},
    "si": {"size": SI, "block": SI},
    "H": {"follow": Follow.ARGUMENTS},
    "dereference-command-line-symlink-to-dir": {"follow": Follow.ARGUMENTS_TO_FOLDERS},
    "hyperlink": {},
    "i": {"inode": True},
    "k": {"block": KIB},
    "l": {"format": "verbose"},
    "L": {"follow": Follow.ALL},
    "m": {"format": "commas"},
    "n": {"format": "verbose", "numeric": True},
    "N": {"quoting": "literal"},
    "o": {"format": "verbose", "group": False},
    "p": {"indicator": "slash"},
    "q": {"question_marks": True},
    "show-control-chars": {"question_marks": False},
    "Q": {"quoting": "c"},
    "r": {"reverse": True},
    "R": {"recursive": True},
    "s": {"blocks": True},
    "S": {"sort": "size"},
    "t": {"sort": "time"},
    "u": {"time": "atime"},
    "U": {"sort": "none"},
    "v": {"sort": "version"},
    "x": {"format": "horizontal"},
    "X": {"sort": "extension"},
    "Z": {"context": True},
}


def _apply(ctx: Context, settings: Settings, option: str, value: str) -> None:
    if option == "1":
        settings.format = settings.format if settings.format == "verbose" else "single-column"
    elif option == "zero":
        settings.end, settings.quoting, settings.question_marks = "\0", "literal", False
        settings.format = settings.format if settings.format == "verbose" else "single-column"
    elif option == "f":
        settings.all, settings.sort, settings.blocks, settings.color = "all", "none", False, False
        if settings.format == "verbose":
            settings.format = "vertical" if ctx.stdout.isatty else "single-column"
    elif option == "classify":
        if _is_wanted(ctx, "classify", value or "always"):
            settings.indicator = "classify"
    elif option in ("color", "colour"):
        settings.color = _is_wanted(ctx, "color", value or "always") and _knows_colors(ctx.env)
    elif option == "B":
        settings.ignored += [compile_pattern("*~"), compile_pattern(".*~")]
    elif option == "I":
        settings.ignored.append(compile_pattern(value))
    elif option == "hide":
        settings.hidden.append(compile_pattern(value))
    elif option in ("w", "T"):
        _apply_width(ctx, settings, option, value)
    elif option == "block-size":
        block = block_size(value)
        if block is None:
            fail(ctx, f"invalid --block-size argument {quote(value)}", 2)
        settings.block = settings.size = block
    elif option == "time-style":
        settings.time_formats = _time_formats(ctx, value)
    else:
        _apply_choice(ctx, settings, option, value)


def _apply_choice(ctx: Context, settings: Settings, option: str, value: str) -> None:
    if option == "sort":
        settings.sort = one_of(ctx, option, value, SORTS)
    elif option == "time":
        settings.time = one_of(ctx, option, value, TIMES)
    elif option == "format":
        settings.format = one_of(ctx, option, value, FORMATS)
    elif option == "indicator-style":
        settings.indicator = one_of(ctx, option, value, INDICATORS)
    elif option == "quoting-style":
        settings.quoting = one_of(ctx, option, value, STYLES)


def _is_wanted(ctx: Context, option: str, value: str) -> bool:
    answer = one_of(ctx, option, value, WHEN)
    return answer == "always" or (answer == "auto" and ctx.stdout.isatty)


def _knows_colors(env: Mapping[str, str]) -> bool:
    """Without a database of colours the kind of terminal decides."""
    term = env.get("TERM", "")
    return bool(env.get("LS_COLORS") or env.get("COLORTERM")) or any(word in term for word in COLOR_TERMS)


def _apply_width(ctx: Context, settings: Settings, option: str, value: str) -> None:
    number = parse_number(value)
    if number is None or number < 0:
        fail(ctx, f"invalid {'line width' if option == 'w' else 'tab size'}: {quote(value)}", 2)
    if option == "w":
        settings.width = min(number, MAX_WIDTH) or MAX_WIDTH
    else:
        settings.tab = min(number, MAX_WIDTH)


def _time_formats(ctx: Context, style: str) -> tuple[str, str]:
    if style.startswith("+"):
        older, newline, recent = style[1:].partition("\n")
        return older, recent if newline else older
    style = style.removeprefix("posix-")
    matches = [name for name in TIME_STYLES if name.startswith(style)]
    if style not in TIME_STYLES and len(matches) != 1:
        misuse(
            ctx,
            f"{'ambiguous' if matches else 'invalid'} argument {quote(style)} for 'time style'\n"
            "Valid arguments are:\n  - [posix-]full-iso\n  - [posix-]long-iso\n  - [posix-]iso\n"
            "  - [posix-]locale\n  - +FORMAT (e.g., +%H:%M) for a 'date'-style format",
            2,
        )
    return TIME_STYLES[style if style in TIME_STYLES else matches[0]]


def _settle(ctx: Context, settings: Settings, options: Options) -> None:
    """Apply the effects of combined options."""
    if settings.color:
        settings.tab = 0  # colours and tabs do not go together on all terminals
    if options.any("c", "u", "time") and settings.format != "verbose" and settings.sort == "name":
        settings.sort = "time"  # a time that is not shown is there to sort by
    if settings.follow is None:
        itself = (
            settings.folders_themselves or settings.indicator == "classify" or settings.format == "verbose"
        )
        settings.follow = Follow.NONE if itself else Follow.ARGUMENTS_TO_FOLDERS
    style = ctx.env.get("TIME_STYLE", "")
    if style and settings.format == "verbose" and not options.any("time-style", "full-time"):
        settings.time_formats = _time_formats(ctx, style)
