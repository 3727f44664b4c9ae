"""The configuration of the services: ``service-config.json`` and ``jaeger-config.yml``, mounted from ConfigMaps.

A missing or invalid file ends a program like an uncaught C++ exception: with a message on stderr and SIGABRT.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import Any, Final, NamedTuple, NoReturn

import yaml

from simcloud.machine.files import FileError
from simcloud.machine.process import Context, KilledBySignal, Signal
from simcloud.services.languages import BoostLog, print_line

FOLDER: Final = "config"
SERVICES: Final = f"{FOLDER}/service-config.json"
TRACING: Final = f"{FOLDER}/jaeger-config.yml"
NO_FILE: Final = "Cannot open service-config.json"
NO_ADDRESS: Final = "Error: failed to parse URI"
MAX_MS: Final = 3_600_000
MAX_BYTES: Final = 1 << 20
JSON_TYPES: Final = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}


class Sampling(NamedTuple):
    """The address of the tracing agent (None: no tracing) and the share of sampled traces."""

    agent: str | None
    ratio: float


class Settings:
    """The parsed ``service-config.json``. Reading a missing or mistyped value ends the program."""

    def __init__(self, ctx: Context, values: dict[str, Any]) -> None:
        self._ctx = ctx
        self._values = values

    def get_text(self, *path: str) -> str:
        """Return a string."""
        value = self._find(path)
        if not isinstance(value, str):
            self._throw_type_error("string", value)
        return value

    def get_number(self, *path: str) -> int:
        """Return an integer."""
        value = self._find(path)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._throw_type_error("number", value)
        return int(value) if isfinite(value) else 0

    def get_seconds(self, *path: str) -> float:
        """Return a setting in milliseconds as seconds."""
        return max(0, min(self.get_number(*path), MAX_MS)) / 1000.0

    def get_address(self, name: str) -> str:
        """Return the address of a dependency, such as ``user-mongodb:27017``; an invalid one ends the program."""
        host = self.get_text(name, "addr")
        if not host or ":" in host:
            BoostLog(self._ctx).fatal(NO_ADDRESS, "utils_mongodb.h:29:init_mongodb_client_pool")
            self._ctx.exit(1)
        return f"{host}:{self.get_port(name)}"

    def get_port(self, name: str) -> int:
        """Return a port, truncated to 16 bits."""
        return self.get_number(name, "port") & 0xFFFF

    def get_flag(self, *path: str) -> bool:
        """Return a boolean."""
        value = self._find(path)
        if not isinstance(value, bool):
            self._throw_type_error("boolean", value)
        return value

    def _find(self, path: tuple[str, ...]) -> Any:
        value: Any = self._values
        for name in path:
            if value is not None and not isinstance(value, dict):
                message = f"cannot use operator[] with a string argument with {_name_type(value)}"
                _throw(
                    self._ctx, "nlohmann::detail::type_error", f"[json.exception.type_error.305] {message}"
                )
            value = value.get(name) if value else None
        return value

    def _throw_type_error(self, wanted: str, value: Any) -> NoReturn:
        message = f"[json.exception.type_error.302] type must be {wanted}, but is {_name_type(value)}"
        _throw(self._ctx, "nlohmann::detail::type_error", message)


def read_settings(ctx: Context, log: BoostLog) -> Settings:
    """Read the configuration of services; ends the program if it is missing or invalid."""
    try:
        text = ctx.files.read(SERVICES)[:MAX_BYTES]
    except FileError:
        log.error(NO_FILE, "utils.h:23:load_config_file")
        ctx.exit(1)
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        line, column = getattr(error, "lineno", 1), getattr(error, "colno", 1)
        message = f"parse error at line {line}, column {column}: syntax error while parsing value"
        _throw(ctx, "nlohmann::detail::parse_error", f"[json.exception.parse_error.101] {message}")
    return Settings(ctx, values)


def read_sampling(ctx: Context) -> Sampling:
    """Read the configuration of tracing; ends the program if it is missing or invalid."""
    try:
        text = ctx.files.read(TRACING)[:MAX_BYTES]
    except FileError:
        _throw(ctx, "YAML::BadFile", f"bad file: {TRACING}")
    try:
        values = yaml.load(text, yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
        _throw(ctx, "YAML::ParserException", f"yaml-cpp: error at {where}illegal map value")
    return parse_sampling(values)


def parse_sampling(values: Any) -> Sampling:
    """Parse a Jaeger client's configuration, with the library's defaults."""
    if not isinstance(values, dict) or values.get("disabled") is True:
        return Sampling(None, 0.0)
    reporter, sampler = (_as_map(values.get(name)) for name in ("reporter", "sampler"))
    agent = reporter.get("localAgentHostPort", "127.0.0.1:6831")
    param = sampler.get("param", 0.001)
    ratio = float(param) if isinstance(param, int | float) else 0.0
    if sampler.get("type") == "const":
        ratio = 1.0 if ratio else 0.0
    return Sampling(str(agent), max(0.0, min(1.0, ratio)))


def _as_map(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _name_type(value: Any) -> str:
    return JSON_TYPES.get(type(value), "number")


def _throw(ctx: Context, kind: str, what: str) -> NoReturn:
    """End the program like an uncaught C++ exception."""
    print_line(ctx, f"terminate called after throwing an instance of '{kind}'", 2)
    print_line(ctx, f"  what():  {what}", 2)
    raise KilledBySignal(Signal.ABRT)
