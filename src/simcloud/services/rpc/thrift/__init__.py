"""Thrift, as in the C++ services of SocialNetwork."""

from simcloud.services.rpc.thrift.messages import (
    FRAME_BYTES as FRAME_BYTES,
    THRIFT as THRIFT,
    ApplicationError as ApplicationError,
    NoClient as NoClient,
    NoConnection as NoConnection,
    Reply as Reply,
    Request as Request,
    ServiceError as ServiceError,
    ThriftError as ThriftError,
    TransportError as TransportError,
)
from simcloud.services.rpc.thrift.pool import ThriftPool as ThriftPool, lua_words as lua_words
from simcloud.services.rpc.thrift.server import ThriftServer as ThriftServer
