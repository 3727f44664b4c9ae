"""``--overrides``: a piece of JSON that is merged into an object before it is sent."""

from __future__ import annotations

import json

from aiopslab.cluster.api.errors import ApiError
from aiopslab.cluster.api.objects import Object, copy
from aiopslab.cluster.api.patch import PatchType
from aiopslab.cluster.api.patching import Patch, patched_form
from aiopslab.cluster.api.resources import Resource
from aiopslab.kubectl.errors import KubectlError
from aiopslab.kubectl.session import Kubectl

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
