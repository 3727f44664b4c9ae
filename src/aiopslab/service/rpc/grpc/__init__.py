"""gRPC in grpc-go's manner."""

from aiopslab.service.rpc.grpc.channel import GrpcChannel
from aiopslab.service.rpc.grpc.errors import GrpcError
from aiopslab.service.rpc.grpc.server import GrpcServer

__all__ = ["GrpcChannel", "GrpcError", "GrpcServer"]
