"""The configuration of the services: a JSON file of strings in the working folder of their image."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from aiopslab.apps.hotelres.fields import atoi
from simcloud.machine.files import FileError
from simcloud.machine.process import Context

NAME: Final = "config.json"
WORKDIR: Final = "/go/src/github.com/harlow/go-micro-services"

DEFAULT: Final[Mapping[str, str]] = {
    "consulAddress": "consul:8500",
    "jaegerAddress": "jaeger:6831",
    "FrontendPort": "5000",
    "GeoPort": "8083",
    "GeoMongoAddress": "mongodb-geo:27017",
    "ProfilePort": "8081",
    "ProfileMongoAddress": "mongodb-profile:27017",
    "ProfileMemcAddress": "memcached-profile:11211",
    "RatePort": "8084",
    "RateMongoAddress": "mongodb-rate:27017",
    "RateMemcAddress": "memcached-rate:11211",
    "RecommendPort": "8085",
    "RecommendMongoAddress": "mongodb-recommendation:27017",
    "ReservePort": "8087",
    "ReserveMongoAddress": "mongodb-reservation:27017",
    "ReserveMemcAddress": "memcached-reserve:11211",
    "SearchPort": "8082",
    "UserPort": "8086",
    "UserMongoAddress": "mongodb-user:27017",
}

RETRYING: Final[Mapping[str, str]] = {
    "CallTimeoutMs": "400",
    "CallAttempts": "4",
    "CallPauseMs": "50",
    "SearchRankingMs": "16",
    "SearchWorkers": "4",
    "SearchQueue": "100",
}
"""Additional settings of the release with retries. Its search ranks results with few workers, and callers that time out retry:
once its queue is full, it is full of requests whose callers have given up."""
RANKING: Final[Mapping[str, str]] = {
    **RETRYING,
    "CallTimeoutMs": "200",
    "CallAttempts": "8",
    "CallPauseMs": "25",
    "SearchRankingMs": "25",
}
"""The same with a more thorough ranking and more retries: a burst of the usual load's double is enough."""


def format_config(config: Mapping[str, str]) -> bytes:
    """Encode a configuration as the content of the file."""
    return json.dumps(dict(config), indent=2).encode() + b"\n"


class Config:
    """The content of the file. Values that are missing or not strings are empty, as Go reads them."""

    def __init__(self, values: Mapping[str, str], problem: str = "") -> None:
        self._values = values
        self.problem = problem
        """Why the file could not be opened, if so."""

    def __getitem__(self, name: str) -> str:
        return self._values.get(name, "")

    def get_number(self, name: str) -> int:
        """Return an integer such as a port; 0 if it is missing or invalid."""
        return atoi(self[name])

    def get_seconds(self, name: str) -> float:
        """Return a setting in milliseconds as seconds."""
        return max(0, self.get_number(name)) / 1000.0


def read_config(ctx: Context) -> Config:
    """Read the configuration file in the working folder."""
    try:
        text = ctx.files.read(NAME)
    except FileError as error:
        return Config({}, f"open {NAME}: {error.strerror.lower()}")
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return Config({})
    if not isinstance(values, dict):
        return Config({})
    return Config({name: value for name, value in values.items() if isinstance(value, str)})
