"""HTTP, as in net/http: a server with routes, and a client with a pool of connections."""

from simcloud.services.rpc.http.client import HttpClient, HttpError
from simcloud.services.rpc.http.requests import Query, http_error, query_of
from simcloud.services.rpc.http.server import HttpServer, RequestHandler

__all__ = ["HttpClient", "HttpError", "HttpServer", "Query", "RequestHandler", "http_error", "query_of"]
