"""Remote calls between services: listening, dialling, time-outs, retries, queues, spans and measures included.

The flavours (gRPC, HTTP, Thrift) differ in their errors and manners as they do in life.
"""

from aiopslab.service.rpc.addresses import Addresses, FixedAddresses
from aiopslab.service.rpc.admission import Capacity
from aiopslab.service.rpc.call import Call, Handler
from aiopslab.service.rpc.grpc import GrpcChannel, GrpcError, GrpcServer
from aiopslab.service.rpc.http import HttpClient, HttpError, HttpServer, Query, http_error, query_of
from aiopslab.service.rpc.retries import CallError, CircuitBreaker, RetryBudget, RetryPolicy

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
