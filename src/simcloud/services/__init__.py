"""The programming model of services: RPC, tracing, front doors, nginx, Jaeger, and how programs of each language log."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.services.documents import document_store as document_store
    from simcloud.services.front_doors import (
        FrontDoor as FrontDoor,
        HttpDoor as HttpDoor,
        RpcDoor as RpcDoor,
        Sender as Sender,
        SendFailed as SendFailed,
    )
    from simcloud.services.tracing import (
        ActiveSpan as ActiveSpan,
        SpanContext as SpanContext,
        Tracer as Tracer,
        list_open_spans as list_open_spans,
    )
