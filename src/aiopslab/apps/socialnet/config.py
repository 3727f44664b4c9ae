"""What the services read at their start: ``service-config.json`` and ``jaeger-config.yml``, mounted from ConfigMaps.

A file that is missing or says nonsense ends a program as an exception that nobody catches ends a C++ program: with what
it was on stderr, and SIGABRT.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import Any, Final, NamedTuple, NoReturn

import yaml

from simcloud.machine.files import FileError
from simcloud.machine.process import Context, KilledBySignal, Signal
from simcloud.services.languages.cpp import BoostLog
from simcloud.services.languages.output import print_line

FOLDER: Final = "config"
SERVICES: Final = f"{FOLDER}/service-config.json"
TRACING: Final = f"{FOLDER}/jaeger-config.yml"
NO_FILE: Final = "Cannot open service-config.json"
NO_ADDRESS: Final = "Error: failed to parse URI"
MAX_MS: Final = 3_600_000
MAX_BYTES: Final = 1 << 20
JSON_TYPES: Final = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}


class Sampling(NamedTuple):
    """Where spans go (None: nowhere), and which share of traces."""

    agent: str | None
    ratio: float


class Settings:
    """The parsed ``service-config.json``. What is asked for and is not there ends the program."""

    def __init__(self, ctx: Context, values: dict[str, Any]) -> None:
        self._ctx = ctx
        self._values = values

    def text(self, *path: str) -> str:
        """A value that should be text."""
        value = self._at(path)
        if not isinstance(value, str):
            self._mistyped("string", value)
        return value

    def number(self, *path: str) -> int:
        """A value that should be a number."""
        value = self._at(path)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._mistyped("number", value)
        return int(value) if isfinite(value) else 0

    def seconds(self, *path: str) -> float:
        """A number of milliseconds, in seconds."""
        return max(0, min(self.number(*path), MAX_MS)) / 1000.0

    def address(self, name: str) -> str:
        """Where a dependency is: ``user-mongodb:27017``. An address that is none ends the program."""
        host = self.text(name, "addr")
        if not host or ":" in host:
            BoostLog(self._ctx).fatal(NO_ADDRESS, "utils_mongodb.h:29:init_mongodb_client_pool")
            self._ctx.exit(1)
        return f"{host}:{self.port(name)}"

    def port(self, name: str) -> int:
        """A port, cut to what a socket's address holds."""
        return self.number(name, "port") & 0xFFFF

    def flag(self, *path: str) -> bool:
        """A value that should be true or false."""
        value = self._at(path)
        if not isinstance(value, bool):
            self._mistyped("boolean", value)
        return value

    def _at(self, path: tuple[str, ...]) -> Any:
        value: Any = self._values
        for name in path:
            if value is not None and not isinstance(value, dict):
                told = f"cannot use operator[] with a string argument with {_type(value)}"
                _thrown(self._ctx, "nlohmann::detail::type_error", f"[json.exception.type_error.305] {told}")
            value = value.get(name) if value else None
        return value

    def _mistyped(self, wanted: str, value: Any) -> NoReturn:
        told = f"[json.exception.type_error.302] type must be {wanted}, but is {_type(value)}"
        _thrown(self._ctx, "nlohmann::detail::type_error", told)


def read_settings(ctx: Context, log: BoostLog) -> Settings:
    """The configuration of services; ends the program when there is none."""
    try:
        text = ctx.files.read(SERVICES)[:MAX_BYTES]
    except FileError:
        log.error(NO_FILE, "utils.h:22:load_config_file")
        ctx.exit(1)
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        line, column = getattr(error, "lineno", 1), getattr(error, "colno", 1)
        told = f"parse error at line {line}, column {column}: syntax error while parsing value"
        _thrown(ctx, "nlohmann::detail::parse_error", f"[json.exception.parse_error.101] {told}")
    return Settings(ctx, values)


def read_sampling(ctx: Context) -> Sampling:
    """The configuration of tracing; ends the program when there is none."""
    try:
        text = ctx.files.read(TRACING)[:MAX_BYTES]
    except FileError:
        _thrown(ctx, "YAML::BadFile", f"bad file: {TRACING}")
    try:
        values = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
        _thrown(ctx, "YAML::ParserException", f"yaml-cpp: error at {where}illegal map value")
    return sampling_of(values)


def sampling_of(values: Any) -> Sampling:
    """What a Jaeger client makes of its configuration; what is missing is as the library has it."""
    if not isinstance(values, dict) or values.get("disabled") is True:
        return Sampling(None, 0.0)
    reporter, sampler = (_map(values.get(name)) for name in ("reporter", "sampler"))
    agent = reporter.get("localAgentHostPort", "127.0.0.1:6831")
    param = sampler.get("param", 0.001)
    ratio = float(param) if isinstance(param, int | float) else 0.0
    if sampler.get("type") == "const":
        ratio = 1.0 if ratio else 0.0
    return Sampling(str(agent), max(0.0, min(1.0, ratio)))


def _map(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _type(value: Any) -> str:
    return JSON_TYPES.get(type(value), "number")


def _thrown(ctx: Context, kind: str, what: str) -> NoReturn:
    """An exception that nobody catches."""
    print_line(ctx, f"terminate called after throwing an instance of '{kind}'", 2)
    print_line(ctx, f"  what():  {what}", 2)
    raise KilledBySignal(Signal.ABRT)
