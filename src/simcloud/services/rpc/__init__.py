"""Remote calls between services, with timeouts, retries, queues, spans and metrics.

gRPC, HTTP and Thrift differ in their errors and behaviour as the genuine ones do.
"""

from simcloud.services.rpc.admission import Capacity
from simcloud.services.rpc.call import Call, Handler
from simcloud.services.rpc.grpc import GrpcChannel, GrpcError, GrpcServer
from simcloud.services.rpc.grpc.channel import Addresses, FixedAddresses
from simcloud.services.rpc.http import HttpClient, HttpError, HttpServer, Query, http_error, query_of
from simcloud.services.rpc.retries import CallError, CircuitBreaker, RetryBudget, RetryPolicy

__all__ = [
    "Addresses",
    "Call",
    "CallError",
    "Capacity",
    "CircuitBreaker",
    "FixedAddresses",
    "GrpcChannel",
    "GrpcError",
    "GrpcServer",
    "Handler",
    "HttpClient",
    "HttpError",
    "HttpServer",
    "Query",
    "RetryBudget",
    "RetryPolicy",
    "http_error",
    "query_of",
]
