"""``token``: creates a token of a service account."""

from __future__ import annotations

from simcloud.kubernetes.api.access.token_requests import create_token_request
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.subresources.request import Request


def serve(request: Request) -> Object:
    """Answer a TokenRequest."""
    asked = request.body("authentication.k8s.io", "v1", "TokenRequest")
    request.admit(asked)
    api = request.api
    return create_token_request(
        request.present(),
        asked,
        tokens=api.tokens,
        reader=api.core,
        now_s=api.now_s,
        token_id=api.new_uid(),
    )
