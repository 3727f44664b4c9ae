"""The HTTP APIs of Prometheus, Jaeger and Loki at one address; their paths do not overlap."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.server.telemetry.apis import apis_of as apis_of
