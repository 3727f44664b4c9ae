"""Thrift, as in the C++ services of SocialNetwork."""

from simcloud.services.rpc.thrift.messages import (
    ApplicationError,
    NoConnection,
    ServiceError,
    ThriftError,
    TransportError,
)
from simcloud.services.rpc.thrift.pool import ThriftPool, lua_words
from simcloud.services.rpc.thrift.server import ThriftServer

__all__ = [
    "ApplicationError",
    "NoConnection",
    "ServiceError",
    "ThriftError",
    "ThriftPool",
    "ThriftServer",
    "TransportError",
    "lua_words",
]
