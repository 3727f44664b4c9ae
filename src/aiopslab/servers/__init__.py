"""Servers: incidents for clients that speak a protocol of their own."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from aiopslab.servers.mcp_server import (
        IncidentServer as IncidentServer,
        serve_http as serve_http,
        serve_stdio as serve_stdio,
    )
