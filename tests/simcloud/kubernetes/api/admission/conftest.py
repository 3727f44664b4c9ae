from __future__ import annotations

from typing import Any

import pytest

from simcloud.kubernetes.api.admission import ADMISSION
from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import copy
from simcloud.kubernetes.api.options import Caller, WriteOptions

Data = dict[str, Any]


class World:
    """An API with a namespace ``demo`` and its default account, and few words to use it."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.warnings: list[str] = []

    def create(
        self,
        name: str,
        data: Data,
        namespace: str = "demo",
        caller: Caller | None = None,
        dry_run: bool = False,
    ) -> Data:
        plural, _, group = name.partition(".")
        resource = self.api.catalogue.find(plural, group)
        options = WriteOptions(dry_run=dry_run)
        body = {"apiVersion": resource.api_version, "kind": resource.kind, **data}
        try:
            return self.api.create(resource, namespace, body, caller, options)
        finally:
            self.warnings = options.warnings

    def get(self, name: str, object_name: str, namespace: str = "demo") -> Data:
        plural, _, group = name.partition(".")
        return self.api.get(self.api.catalogue.find(plural, group), namespace, object_name)

    def update(self, obj: Data, subresource: str = "", caller: Caller | None = None) -> Data:
        resource = self.api.catalogue.of_kind(obj["apiVersion"], obj["kind"])
        assert resource is not None
        metadata = obj["metadata"]
        options = WriteOptions()
        try:
            return self.api.update(
                resource,
                metadata.get("namespace", ""),
                metadata["name"],
                copy(obj),
                caller,
                options,
                subresource,
            )
        finally:
            self.warnings = options.warnings

    def refusal(self, name: str, data: Data, **more: Any) -> ApiError:
        with pytest.raises(ApiError) as refused:
            self.create(name, data, **more)
        return refused.value

    def label(self, namespace: str, **labels: str) -> None:
        found = copy(self.get("namespaces", namespace, ""))
        found["metadata"].setdefault("labels", {}).update(
            {f"pod-security.kubernetes.io/{name.replace('_', '-')}": value for name, value in labels.items()}
        )
        self.update(found)

    def quota(self, name: str = "q", scopes: list[str] | None = None, **more: Any) -> Data:
        """A quota whose status the controller has written."""
        hard = more.pop("hard")
        spec = {"hard": hard, **({"scopes": scopes} if scopes else {}), **more}
        made = copy(self.create("resourcequotas", {"metadata": {"name": name}, "spec": spec}))
        made["status"] = {"hard": hard, "used": dict.fromkeys(hard, "0")}
        return self.update(made, "status")


def pod(name: str = "p", *containers: Data, **spec: Any) -> Data:
    listed = list(containers) or [{"name": "c", "image": "nginx"}]
    return {
        "metadata": {"name": name},
        "spec": {"containers": [{"image": "nginx", **one} for one in listed], **spec},
    }


@pytest.fixture
def world(api: Api) -> World:
    api.admission = list(ADMISSION)
    made = World(api)
    made.create("serviceaccounts", {"metadata": {"name": "default"}})
    return made
