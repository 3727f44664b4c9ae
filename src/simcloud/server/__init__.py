"""The HTTP servers of the cloud: the APIs of Kubernetes, Prometheus, Jaeger and Loki for genuine clients."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.server.gateway import Gateway as Gateway
    from simcloud.server.request_bodies import read_limited_body as read_limited_body
