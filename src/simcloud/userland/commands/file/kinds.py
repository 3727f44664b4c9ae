"""file: determine the type of files.

The genuine tool knows thousands of formats; this one knows those that are common on servers: texts in their
encodings, scripts, JSON, CSV, archives, keys, and our own programs.
"""

from __future__ import annotations

import json
import re
from typing import Final

from simcloud.machine.files import FileError
from simcloud.machine.process import BINARY, Context
from simcloud.userland.commands.options import Options, UsageError, parse
from simcloud.userland.commands.records import read_whole
from simcloud.userland.commands.registry import command

LOOKED_AT_BYTES: Final = 1 << 20
TEXT_BYTES: Final = bytes([7, 8, 9, 10, 11, 12, 13, 27, *range(0x20, 0x7F), *range(0x80, 0x100)])
LONG_LINE: Final = 300
PROGRAM: Final = (
    "ELF 64-bit LSB pie executable, x86-64, version 1 (SYSV), dynamically linked, interpreter "
    "/lib64/ld-linux-x86-64.so.2, for GNU/Linux 3.2.0, stripped"
)
USAGE: Final = """\
Usage: file [-bcCdEhikLlNnprsSvzZ0] [--apple] [--extension] [--mime-encoding]
            [--mime-type] [-e <testname>] [-F <separator>]  [-f <namefile>]
            [-m <magicfiles>] [-P <parameter=value>] [--exclude-quiet]
            <file> ...
       file -C [-m <magicfiles>]
       file [--help]"""
MAGIC: Final = (
    (BINARY, PROGRAM, "application/x-pie-executable"),
    (b"\x7fELF\x02\x01", "ELF 64-bit LSB (SYSV)", "application/octet-stream"),
    (b"\x1f\x8b", "gzip compressed data", "application/gzip"),
    (b"BZh", "bzip2 compressed data", "application/x-bzip2"),
    (b"\xfd7zXZ\0", "XZ compressed data", "application/x-xz"),
    (b"(\xb5/\xfd", "Zstandard compressed data (v0.8+)", "application/zstd"),
    (b"PK\x03\x04", "Zip archive data", "application/zip"),
    (b"\x89PNG\r\n\x1a\n", "PNG image data", "image/png"),
    (b"\xff\xd8\xff", "JPEG image data", "image/jpeg"),
    (b"GIF8", "GIF image data", "image/gif"),
    (b"SQLite format 3\0", "SQLite 3.x database", "application/vnd.sqlite3"),
)
INTERPRETERS: Final = {
    "sh": ("POSIX shell script", "text/x-shellscript"),
    "bash": ("Bourne-Again shell script", "text/x-shellscript"),
    "zsh": ("Paul Falstad's zsh script", "text/x-shellscript"),
    "python": ("Python script", "text/x-script.python"),
    "perl": ("Perl script text executable", "text/x-perl"),
    "awk": ("awk script", "text/x-awk"),
    "node": ("Node.js script", "application/javascript"),
    "ruby": ("Ruby script", "text/x-ruby"),
}
PEM: Final = {b"-----BEGIN CERTIFICATE-----": "PEM certificate", b"-----BEGIN RSA PRIVATE KEY-----": "PEM RSA private key",
              b"-----BEGIN PRIVATE KEY-----": "OpenSSH private key (no password)"}  # fmt: skip
_SHEBANG = re.compile(rb"#![ \t]*([^ \t\n]+)(?:[ \t]+([^ \t\n]+))?")
_NAMES: Final = {"directory": ("directory", "inode/directory"), "fifo": ("fifo (named pipe)", "inode/fifo")}


@command("file")
async def file(ctx: Context) -> int:
    """Say what kind of data files hold."""
    try:
        options = parse(
            ctx.args,
            "bhiLNnsz0F:f:",
            ("brief", "mime", "mime-type", "mime-encoding", "dereference", "version", "help"),
        )
    except UsageError as mistake:
        first = str(mistake).partition("\n")[0]
        raise UsageError(f"{first}\n{USAGE}") from None
    if options.any("version", "help"):
        await ctx.out("file-5.44\n" if options.any("version") else f"{USAGE}\n")
        return 0
    paths = list(options.operands)
    if options.any("f"):
        try:
            names = ctx.files.read(options.last("f")).decode("utf-8", "surrogateescape")
        except FileError as error:
            raise UsageError(f"file: Cannot open `{options.last('f')}' ({error})") from None
        paths = [*names.splitlines(), *paths]
    if not paths:
        raise UsageError(USAGE)
    width = max(len(path) for path in paths) if not options.any("N") else 0
    for path in paths:
        ctx.spend_turn()
        words = await _words(ctx, options, path)
        name = "/dev/stdin" if path == "-" else path
        separator = ":" if not options.any("F") else options.last("F")
        prefix = f"{name}{separator}".ljust(width + len(separator)) + " "
        await ctx.out(f"{words}\n" if options.any("b", "brief") else f"{prefix}{words}\n")
    return 0


async def _words(ctx: Context, options: Options, path: str) -> str:
    try:
        kind, mime, charset = await _examine(ctx, path, options.any("L", "dereference"))
    except FileError as error:
        return f"cannot open `{path}' ({error})"
    if options.any("i", "mime"):
        return f"{mime}; charset={charset}"
    if options.any("mime-type"):
        return mime
    return charset if options.any("mime-encoding") else kind


async def _examine(ctx: Context, path: str, follow: bool) -> tuple[str, str, str]:
    """Return a file's description, MIME type and encoding."""
    if path == "-":
        return _data_kind(await read_whole(ctx, ctx.stdin, LOOKED_AT_BYTES))
    files = ctx.files
    found = files.stat(path, follow)
    if found.is_link:
        broken = "" if files.exists(path) else "broken "
        return f"{broken}symbolic link to {files.readlink(path)}", "inode/symlink", "binary"
    if found.is_device:
        return f"character special ({found.rdev >> 8}/{found.rdev & 0xFF})", "inode/chardevice", "binary"
    if not found.is_file:
        words, mime = _NAMES["directory" if found.is_dir else "fifo"]
        return words, mime, "binary"
    if found.size == 0:
        return "empty", "inode/x-empty", "binary"
    handle = files.open(path)
    data = handle.read(LOOKED_AT_BYTES)
    handle.close()
    ctx.spend_bytes(len(data))
    return _data_kind(data)


def _data_kind(data: bytes) -> tuple[str, str, str]:
    if not data:
        return "empty", "inode/x-empty", "binary"
    for start, words, mime in MAGIC:
        if data.startswith(start):
            return words, mime, "binary"
    if data[257:262] == b"ustar":
        gnu = " (GNU)" if data[257:265] == b"ustar  \0" else ""
        return f"POSIX tar archive{gnu}", "application/x-tar", "binary"
    if data.startswith(b"%PDF-"):
        return f"PDF document, version {data[5:8].decode('latin-1')}", "application/pdf", "binary"
    encoding = _encoding(data)
    if encoding is None:
        return "data", "application/octet-stream", "binary"
    words, charset = encoding
    return *_text_kind(data, words), charset


def _encoding(data: bytes) -> tuple[str, str] | None:
    if data.translate(None, TEXT_BYTES):
        return None
    if data.isascii():
        return "ASCII text", "us-ascii"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.end < len(data):
            return (
                ("ISO-8859 text", "iso-8859-1")
                if not any(0x80 <= byte < 0xA0 for byte in data)
                else ("Non-ISO extended-ASCII text", "unknown-8bit")
            )
    return "Unicode text, UTF-8 text", "utf-8"


def _text_kind(data: bytes, words: str) -> tuple[str, str]:
    for start, kind in PEM.items():
        if data.startswith(start):
            return kind, "text/plain"
    ending = _line_endings(data)
    shebang = _SHEBANG.match(data)
    if shebang is not None:
        return _script(shebang[1], shebang[2] or b"", words + ending)
    if _is_json(data):
        return "JSON text data", "application/json"
    if data.startswith(b"<?xml"):
        return f"XML 1.0 document, {words}{ending}", "text/xml"
    if data.lstrip()[:14].lower().startswith((b"<!doctype html", b"<html")):
        return f"HTML document, {words}{ending}", "text/html"
    if _is_csv(data):
        return f"CSV {words.removeprefix('ASCII ')}{ending}", "text/csv"
    return words + ending, "text/plain"


def _script(interpreter: bytes, argument: bytes, words: str) -> tuple[str, str]:
    path = interpreter.decode("utf-8", "replace")
    name = path.rpartition("/")[2]
    if name == "env" and argument:
        name = argument.decode("utf-8", "replace")
    known = INTERPRETERS.get(name.rstrip("0123456789."))
    if known is None:
        return f"a {path} script, {words} executable", "text/plain"
    kind, mime = known
    return (kind if kind.endswith("executable") else f"{kind}, {words} executable"), mime


def _line_endings(data: bytes) -> str:
    lines = data.split(b"\n")
    longest = max(len(line) for line in lines)
    text = f", with very long lines ({longest})" if longest > LONG_LINE else ""
    crlf = data.count(b"\r\n")
    if b"\n" not in data:
        text += ", with CR line terminators" if b"\r" in data else ", with no line terminators"
    elif crlf and crlf == data.count(b"\n"):
        text += ", with CRLF line terminators"
    elif crlf:
        text += ", with CRLF, LF line terminators"
    return text + (", with escape sequences" if b"\x1b" in data else "")


def _is_json(data: bytes) -> bool:
    if data.lstrip()[:1] not in (b"{", b"["):
        return False
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def _is_csv(data: bytes) -> bool:
    """At least two lines with the same number of commas, and some."""
    lines = data.split(b"\n")[:10]
    counts = [line.count(b",") for line in lines if line]
    return len(counts) > 1 and counts[0] > 0 and len(set(counts)) == 1
