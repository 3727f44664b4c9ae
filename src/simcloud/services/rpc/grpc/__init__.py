"""gRPC, as in grpc-go."""

from simcloud.services.rpc.grpc.channel import GrpcChannel
from simcloud.services.rpc.grpc.errors import GrpcError
from simcloud.services.rpc.grpc.server import GrpcServer

__all__ = ["GrpcChannel", "GrpcError", "GrpcServer"]
