"""gRPC, as in grpc-go."""

from simcloud.services.rpc.grpc.channel import GrpcChannel as GrpcChannel, OnAddresses as OnAddresses
from simcloud.services.rpc.grpc.errors import GrpcError as GrpcError
from simcloud.services.rpc.grpc.server import GrpcServer as GrpcServer
