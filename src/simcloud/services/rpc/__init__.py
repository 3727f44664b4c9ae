"""Remote calls between services, with timeouts, retries, queues, spans and metrics.

gRPC, HTTP and Thrift differ in their errors and behaviour as the genuine ones do.
"""

from simcloud.services.rpc.admission import Capacity as Capacity
from simcloud.services.rpc.call import Call as Call, Handler as Handler
from simcloud.services.rpc.grpc import (
    GrpcChannel as GrpcChannel,
    GrpcError as GrpcError,
    GrpcServer as GrpcServer,
)
from simcloud.services.rpc.grpc.channel import Addresses as Addresses, FixedAddresses as FixedAddresses
from simcloud.services.rpc.grpc.messages import GRPC as GRPC, GRPC_TLS as GRPC_TLS
from simcloud.services.rpc.http import (
    HttpClient as HttpClient,
    HttpError as HttpError,
    HttpServer as HttpServer,
    Query as Query,
    http_error as http_error,
    query_of as query_of,
)
from simcloud.services.rpc.retries import (
    CallError as CallError,
    CircuitBreaker as CircuitBreaker,
    RetryBudget as RetryBudget,
    RetryPolicy as RetryPolicy,
)
