"""Watches over HTTP: a JSON document per line, or frames of protobuf, for as long as the client stays."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from simcloud.kubernetes import ApiClient
from simcloud.kubernetes.api import NotAcceptable, Object, Resource
from simcloud.kubernetes.api.verbs import Watch, WatchEvent
from simcloud.server.kubernetes.context import AppContext
from simcloud.server.kubernetes.negotiation import JSON, PROTOBUF, YAML, Form
from simcloud.server.kubernetes.parameters import IncludeObject, include_object, watch_options
from simcloud.server.kubernetes.paths import Target
from simcloud.server.kubernetes.protobuf import encode_watch_event
from simcloud.server.kubernetes.responses import as_json, transform

_MEDIA_TYPES: Final = {JSON: JSON, PROTOBUF: f"{PROTOBUF};stream=watch"}
CHUNK_EVENTS: Final = 500
"""Maximum number of events sent together."""


def serve(
    app: AppContext, request: Request, target: Target, client: ApiClient, resource: Resource, form: Form
) -> Response:
    """Begin a watch and stream it."""
    query = request.query_params
    if form.media == YAML:
        raise NotAcceptable(
            "only the following media types are accepted: application/json;stream=watch, "
            "application/vnd.kubernetes.protobuf;stream=watch"
        )
    include = include_object(query, form)
    started = app.api.watch(resource, target.namespace or None, watch_options(query, target.name))
    stream = _parts(app, started, form, include)
    response = StreamingResponse(stream, media_type=_MEDIA_TYPES[form.media])
    client.warn(resource)
    for warning in client.warnings:
        response.headers["warning"] = f'299 - "{warning}"'
    return response


async def _parts(app: AppContext, watch: Watch, form: Form, include: IncludeObject) -> AsyncIterator[bytes]:
    arrived = app.signal()
    watch.on_event = arrived.set
    headers = True
    try:
        while True:
            arrived.clear()
            parts: list[bytes] = []
            while len(parts) < CHUNK_EVENTS and (event := watch.take()) is not None:
                parts.append(
                    _encode_event(
                        event.type, _transform_event(app, watch, event, form, include, headers), form
                    )
                )
                headers = False
            if parts:
                yield b"".join(parts)
            elif watch.closed:
                return
            else:
                await arrived.wait()
    finally:
        watch.stop()


def _transform_event(
    app: AppContext, watch: Watch, event: WatchEvent, form: Form, include: IncludeObject, headers: bool
) -> Object:
    """Return the object of an event in the requested form; only the first Table of a stream has headers."""
    if event.type in ("ERROR", "BOOKMARK") or not form.transform:
        return event.object
    return transform(event.object, watch.resource, form, app.api.now_s, include, headers)


def _encode_event(kind: str, shown: Object, form: Form) -> bytes:
    """Return an event as a line of JSON or as a frame of protobuf."""
    if form.media == PROTOBUF:
        return encode_watch_event(kind, shown)
    return as_json({"type": kind, "object": shown}) + b"\n"
