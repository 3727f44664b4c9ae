"""The tests of find: each builds a condition on a file from its argument."""

from __future__ import annotations

import stat as bits
from collections.abc import Callable
from functools import partial
from typing import Final

from simcloud.machine.files import FileError, Stat
from simcloud.userland.bash.patterns import compile_pattern
from simcloud.userland.commands.file.find.patterns import whole_path_regex
from simcloud.userland.commands.file.find.search import Found, Search
from simcloud.userland.commands.file.find.times import TIME_TESTS
from simcloud.userland.commands.file.find.words import Condition, Words, compare
from simcloud.userland.commands.file.modes import apply_changes, parse_mode
from simcloud.userland.commands.text.quoting import quote, quote_name_always

SIZE_UNITS: Final = {"c": 1, "w": 2, "b": 512, "k": 1024, "M": 1024**2, "G": 1024**3}
KINDS: Final = {"b": bits.S_IFBLK, "c": bits.S_IFCHR, "d": bits.S_IFDIR, "p": bits.S_IFIFO, "f": bits.S_IFREG,
                "l": bits.S_IFLNK, "s": bits.S_IFSOCK, "D": 0}  # fmt: skip
Maker = Callable[[Search, Words], Condition]


def _yes(found: Found) -> bool:
    return True


def _setting(apply: Callable[[Search, Words], None]) -> Maker:
    """An option: it changes the search and is true of every file."""

    def make(search: Search, words: Words) -> Condition:
        apply(search, words)
        return _yes

    return make


def _set(attribute: str, value: object) -> Maker:
    return _setting(lambda search, _: setattr(search, attribute, value))


def _depth_limit(attribute: str) -> Maker:
    return _setting(lambda search, words: setattr(search, attribute, words.depth()))


def _regex_type(search: Search, words: Words) -> None:
    search.regex_type = words.argument()
    whole_path_regex(search, "", ignore_case=False)


def _name(
    subject: Callable[[Search, Found], str | None], nocase: bool, search: Search, words: Words
) -> Condition:
    pattern = compile_pattern(words.argument(), nocase=nocase)

    def matches(found: Found) -> bool:
        text = subject(search, found)
        return text is not None and pattern.matches(text)

    return matches


def _link_target(search: Search, found: Found) -> str | None:
    return search.ctx.files.readlink(found.path) if found.stat.is_link else None


def _regex(nocase: bool, search: Search, words: Words) -> Condition:
    matches = whole_path_regex(search, words.argument(), ignore_case=nocase)
    return lambda found: matches(found.path)


def _kinds(search: Search, words: Words) -> frozenset[int]:
    option, text = words.current, words.argument()
    letters = text.split(",")
    for letter in letters:
        if letter == "":
            raise search.mistake(
                f"Last file type in list argument to {option} is missing, i.e., list is ending on: ','"
                if text
                else f"Arguments to {option} should contain at least one letter"
            )
        if letter[0] not in KINDS:
            raise search.mistake(f"Unknown argument to {option}: {letter[0]}")
        if len(letter) > 1:
            raise search.mistake(f"Must separate multiple arguments to {option} using: ','")
    return frozenset(KINDS[letter] for letter in letters)


def _type(search: Search, words: Words) -> Condition:
    wanted = _kinds(search, words)
    return lambda found: bits.S_IFMT(found.stat.mode) in wanted


def _xtype(search: Search, words: Words) -> Condition:
    """The type at the other end of a link; with -L, of the link itself."""
    wanted = _kinds(search, words)
    files = search.ctx.files

    def test(found: Found) -> bool:
        try:
            stat = files.stat(found.path, follow=search.follow != "always")
        except FileError:
            stat = files.stat(found.path, follow=False)
        return bits.S_IFMT(stat.mode) in wanted

    return test


def _empty(search: Search, _: Words) -> Condition:
    def test(found: Found) -> bool:
        if found.stat.is_dir:
            try:
                return not search.ctx.files.listdir(found.path)
            except FileError:
                return False
        return found.stat.is_file and found.stat.size == 0

    return test


def _size(search: Search, words: Words) -> Condition:
    text = words.argument()
    if not text:
        raise search.mistake("invalid null argument to -size")
    sign = text[0] if text[0] in "+-" else ""
    number, unit = text[len(sign) :], 512
    if not number[-1:].isdecimal():
        if number[-1:] not in SIZE_UNITS:
            raise search.mistake(f"invalid -size type `{number[-1:]}'")
        number, unit = number[:-1], SIZE_UNITS[number[-1]]
    if not (number.isdecimal() and number.isascii()) or len(number) > 18:
        raise search.mistake(f"Invalid argument `{text}' to -size")
    return compare(sign, int(number), lambda found: -(-found.stat.size // unit))


def _perm(search: Search, words: Words) -> Condition:
    text = words.argument()
    kind = text[0] if text[:1] in ("-", "/") else ""
    changes = parse_mode(text[len(kind) :])
    if changes is None or text.startswith("+"):
        raise search.mistake(f"invalid mode {quote(text)}")
    wanted = apply_changes(0, changes, False, 0)
    if kind == "-":
        return lambda found: found.stat.mode & wanted == wanted
    if kind == "/":
        return lambda found: not wanted or bool(found.stat.mode & wanted)
    return lambda found: found.stat.mode & 0o7777 == wanted


def _user(search: Search, words: Words) -> Condition:
    text = words.argument()
    uid = search.accounts.uid(text)
    if uid is None and not (text.isdecimal() and text.isascii()):
        raise search.mistake(f"{quote_name_always(text)} is not the name of a known user")
    wanted = int(text) if uid is None else uid
    return lambda found: found.stat.uid == wanted


def _group(search: Search, words: Words) -> Condition:
    text = words.argument()
    gid = search.accounts.gid(text)
    if gid is None and not (text.isdecimal() and text.isascii()):
        raise search.mistake(f"{quote_name_always(text)} is not the name of an existing group")
    wanted = int(text) if gid is None else gid
    return lambda found: found.stat.gid == wanted


def _same_file(search: Search, words: Words) -> Condition:
    wanted = words.file(follow=search.follow != "never")
    return lambda found: (found.stat.dev, found.stat.ino) == (wanted.dev, wanted.ino)


def _file_system(search: Search, words: Words) -> Condition:
    wanted = words.argument()
    return lambda found: search.ctx.files.space(found.path).fstype == wanted


def _access(letter: str, search: Search, _: Words) -> Condition:
    return lambda found: search.ctx.files.access(found.path, letter)


def _compare_number(value_of: Callable[[Stat], int], _: Search, words: Words) -> Condition:
    return words.compare_number(lambda found: value_of(found.stat))


def _path(_: Search, found: Found) -> str:
    return found.path


def _last_part(_: Search, found: Found) -> str:
    return found.name


TESTS: Final[dict[str, Maker]] = {
    "-daystart": _set("day_start", True),
    "-depth": _set("depth_first", True),
    "-d": _set("depth_first", True),
    "-follow": _set("follow", "always"),
    "-maxdepth": _depth_limit("max_depth"),
    "-mindepth": _depth_limit("min_depth"),
    "-mount": _set("one_file_system", True),
    "-xdev": _set("one_file_system", True),
    "-noleaf": _set("status", 0),
    "-warn": _set("status", 0),
    "-nowarn": _set("status", 0),
    "-ignore_readdir_race": _set("status", 0),
    "-noignore_readdir_race": _set("status", 0),
    "-regextype": _setting(_regex_type),
    "-true": lambda _s, _w: _yes,
    "-false": lambda _s, _w: lambda found: False,
    "-name": partial(_name, _last_part, False),
    "-iname": partial(_name, _last_part, True),
    "-path": partial(_name, _path, False),
    "-wholename": partial(_name, _path, False),
    "-ipath": partial(_name, _path, True),
    "-iwholename": partial(_name, _path, True),
    "-lname": partial(_name, _link_target, False),
    "-ilname": partial(_name, _link_target, True),
    "-regex": partial(_regex, False),
    "-iregex": partial(_regex, True),
    "-type": _type,
    "-xtype": _xtype,
    "-empty": _empty,
    "-size": _size,
    "-perm": _perm,
    "-user": _user,
    "-group": _group,
    "-uid": partial(_compare_number, lambda stat: stat.uid),
    "-gid": partial(_compare_number, lambda stat: stat.gid),
    "-links": partial(_compare_number, lambda stat: stat.nlink),
    "-inum": partial(_compare_number, lambda stat: stat.ino),
    "-nouser": lambda search, _: lambda found: search.accounts.user_name(found.stat.uid) is None,
    "-nogroup": lambda search, _: lambda found: search.accounts.group_name(found.stat.gid) is None,
    "-samefile": _same_file,
    "-fstype": _file_system,
    "-readable": partial(_access, "r"),
    "-writable": partial(_access, "w"),
    "-executable": partial(_access, "x"),
    **TIME_TESTS,
}
