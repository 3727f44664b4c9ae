"""``aiopslab serve``: incidents over HTTP, each session in a process of its own."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from aiopslab.servers.http_api.app import HttpApp as HttpApp
    from aiopslab.servers.http_api.guard import LOOPBACK as LOOPBACK, Guard as Guard
    from aiopslab.servers.http_api.server import serve as serve
    from aiopslab.servers.http_api.sessions import ServerLimits as ServerLimits, Sessions as Sessions
