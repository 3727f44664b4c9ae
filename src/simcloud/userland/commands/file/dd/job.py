"""The operands of dd."""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field

from simcloud.machine.process import Context
from simcloud.userland.commands.options import UsageError
from simcloud.userland.commands.text.counts import parse_number
from simcloud.userland.commands.text.quoting import quote

OPERANDS: Final = ("if", "of", "bs", "ibs", "obs", "cbs", "count", "skip", "iseek", "seek", "oseek", "conv", "status",
                   "iflag", "oflag")  # fmt: skip
CONVERSIONS: Final = ("ucase", "lcase", "swab", "sync", "notrunc", "excl", "nocreat", "noerror", "fdatasync", "fsync",
                      "sparse")  # fmt: skip
FLAGS: Final = ("append", "direct", "directory", "dsync", "sync", "fullblock", "nonblock", "noatime", "nocache",
                "noctty", "nofollow", "count_bytes", "skip_bytes", "seek_bytes")  # fmt: skip
LEVELS: Final = ("none", "noxfer", "progress")
MAX_BLOCK_BYTES: Final = 1 << 30
MAX_NUMBER: Final = 2**63 - 1


class Job(Struct):
    """The parsed operands."""

    source: str = ""
    target: str = ""
    input_bytes: int = 512
    output_bytes: int = 512
    joined: bool = False
    count: int | None = None
    skip: int = 0
    seek: int = 0
    conversions: set[str] = field(default_factory=set)
    flags: set[str] = field(default_factory=set)
    status: str = ""


def read_job(ctx: Context) -> Job:
    """The job that a command line describes."""
    job, name = Job(), ctx.args[0]
    numbers: dict[str, int] = {}
    for word in ctx.args[1:]:
        key, equals, value = word.partition("=")
        if not equals or key not in OPERANDS:
            raise _mistake(name, f"unrecognized operand {quote(word)}")
        if key in ("if", "of"):
            setattr(job, "source" if key == "if" else "target", value)
        elif key == "status":
            if value not in LEVELS:
                raise _mistake(name, f"invalid status level: {quote(value)}")
            job.status = value
        elif key == "conv":
            job.conversions |= _words(name, value, CONVERSIONS, "conversion")
        elif key in ("iflag", "oflag"):
            job.flags |= _words(name, value, FLAGS, f"{'input' if key == 'iflag' else 'output'} flag")
        else:
            numbers[{"iseek": "skip", "oseek": "seek"}.get(key, key)] = _number(name, key, value)
    job.input_bytes = numbers.get("bs", numbers.get("ibs", 512))
    job.output_bytes = numbers.get("bs", numbers.get("obs", 512))
    job.joined = "bs" not in numbers or bool(job.conversions & {"ucase", "lcase", "swab", "sync"})
    job.count, job.skip, job.seek = numbers.get("count"), numbers.get("skip", 0), numbers.get("seek", 0)
    return job


def _mistake(name: str, what: str) -> UsageError:
    return UsageError(f"{name}: {what}\nTry '{name} --help' for more information.")


def _words(name: str, value: str, known: tuple[str, ...], what: str) -> set[str]:
    words = value.split(",")
    for word in words:
        if word not in known:
            raise _mistake(name, f"invalid {what}: {quote(word)}")
    return set(words)


def _number(name: str, key: str, text: str) -> int:
    """A product such as ``2x512`` or a number with a suffix; a trailing B means bytes and no blocks."""
    product = 1
    for part in text.split("x"):
        number = parse_number(part, "bcwkKmMgGtTPEZY")
        if number is None or number < 0:
            raise UsageError(f"{name}: invalid number: {quote(text)}")
        product *= number
        if product > MAX_NUMBER:
            raise UsageError(f"{name}: invalid number: {quote(text)}: Value too large for defined data type")
    if key in ("bs", "ibs", "obs", "cbs") and product == 0:
        raise UsageError(f"{name}: invalid number: {quote(text)}")
    if key in ("bs", "ibs", "obs", "cbs") and product > MAX_BLOCK_BYTES:
        raise UsageError(f"{name}: memory exhausted by input buffer of size {product} bytes")
    return product
