"""Thrift in the manner of the C++ services of SocialNetwork."""

from aiopslab.service.rpc.thrift.messages import (
    ApplicationError,
    NoConnection,
    ServiceError,
    ThriftError,
    TransportError,
)
from aiopslab.service.rpc.thrift.pool import ThriftPool, lua_words
from aiopslab.service.rpc.thrift.server import ThriftServer

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
