"""``--overrides``: a piece of JSON that is merged into an object before it is sent."""

from __future__ import annotations

import json

from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.patch import PatchType
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.verbs.patches import Patch, patched_form

TYPES = {"json": PatchType.JSON, "merge": PatchType.MERGE, "strategic": PatchType.STRATEGIC}


def overridden(kubectl: Kubectl, resource: Resource, obj: Object) -> Object:
    """The object as ``--overrides`` and ``--override-type`` want it."""
    said, kind = kubectl.flags["overrides"], kubectl.flags["override-type"]
    if not said:
        return obj
    if kind not in TYPES:
        raise KubectlError(f"invalid override type: {kind}")
    whole = {**obj, "apiVersion": resource.api_version, "kind": resource.kind}
    try:
        change = json.loads(said)
        return patched_form(resource, copy(whole), Patch(TYPES[kind], change))
    except (ValueError, RecursionError):
        raise KubectlError("Invalid JSON Patch") from None
    except ApiError as error:
        raise KubectlError(error.message) from None
