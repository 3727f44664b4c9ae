"""HTTP, as in net/http: a server with routes, and a client with a pool of connections."""

from simcloud.services.rpc.http.client import HttpClient as HttpClient, HttpError as HttpError
from simcloud.services.rpc.http.requests import (
    Query as Query,
    http_error as http_error,
    parent_of as parent_of,
    query_of as query_of,
    target_of as target_of,
)
from simcloud.services.rpc.http.server import HttpServer as HttpServer, RequestHandler as RequestHandler
