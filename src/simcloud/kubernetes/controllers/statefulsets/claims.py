"""The claims of a StatefulSet's pods: created before a pod and kept after it, unless the retention policy differs.

The policy works by ownership: a claim that is deleted with the set is owned by the set, one that is deleted on
scale-down is owned by its pod; the garbage collector does the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from simcloud.kubernetes.api.errors import AlreadyExists, ApiError
from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.controller import owner_reference
from simcloud.kubernetes.controllers.statefulsets.identity import claim_names, first_ordinal, ordinal_of
from simcloud.kubernetes.events import Recorder


class ClaimLeaving(ApiError):
    """A claim that a pod needs is being deleted."""

    def __init__(self, name: str) -> None:
        super().__init__(f"pvc {name} is being deleted")


class Claims:
    """Makes claims for pods, and keeps their owners as the policy wants."""

    def __init__(self, client: ComponentClient, recorder: Recorder) -> None:
        self._client = client
        self._recorder = recorder

    def ensure(self, stateful_set: Object, pod: Object) -> None:
        """Make the claims that a pod lacks. ApiError if one cannot be had."""
        refusal: ApiError | None = None
        for draft in _drafts(stateful_set, ordinal_of(pod)):
            metadata = draft["metadata"]
            present = self._client.get("persistentvolumeclaims", metadata["namespace"], metadata["name"])
            if present is None:
                refusal = self._create(stateful_set, pod, draft) or refusal
            elif "deletionTimestamp" in present["metadata"]:
                refusal = ClaimLeaving(metadata["name"])
        if refusal is not None:
            raise refusal
        self.apply_policy(stateful_set, pod)

    def is_stale(self, stateful_set: Object, pod: Object) -> bool:
        """Whether a claim still belongs to a pod of the same name that is gone."""
        if _policy(stateful_set, "whenScaled") != "Delete":
            return False
        name, uid = pod["metadata"]["name"], pod["metadata"].get("uid")
        return any(
            owner["kind"] == "Pod" and owner["name"] == name and owner["uid"] != uid
            for claim in self._present(stateful_set, pod)
            for owner in claim["metadata"].get("ownerReferences") or ()
        )

    def apply_policy(self, stateful_set: Object, pod: Object) -> None:
        """Give a pod's claims the owners that the policy wants."""
        for claim in self._present(stateful_set, pod):
            owners = _compute_owners(stateful_set, pod, claim)
            if owners != (claim["metadata"].get("ownerReferences") or []):
                self._client.edit(claim, partial(_set_owners, owners=owners))

    def _present(self, stateful_set: Object, pod: Object) -> Iterator[Object]:
        namespace = stateful_set["metadata"]["namespace"]
        for name in claim_names(stateful_set, ordinal_of(pod)).values():
            claim = self._client.get("persistentvolumeclaims", namespace, name)
            if claim is not None:
                yield claim

    def _create(self, stateful_set: Object, pod: Object, draft: Object) -> ApiError | None:
        claim, owner = draft["metadata"]["name"], stateful_set["metadata"]["name"]
        try:
            self._client.create(draft)
        except AlreadyExists as error:
            return error
        except ApiError as error:
            subject = f"Create Claim {claim} for Pod {pod['metadata']['name']} in StatefulSet {owner}"
            self._recorder.event(
                stateful_set, "Warning", "FailedCreate", f"{subject} failed error: {error.message}"
            )
            return ApiError(f"failed to create PVC {claim}: {error.message}")
        message = f"Create Claim {claim} Pod {pod['metadata']['name']} in StatefulSet {owner} success"
        self._recorder.event(stateful_set, "Normal", "SuccessfulCreate", message)
        return None


def _drafts(stateful_set: Object, ordinal: int) -> Iterator[Object]:
    names = claim_names(stateful_set, ordinal)
    selected = stateful_set["spec"]["selector"].get("matchLabels") or {}
    for template in stateful_set["spec"].get("volumeClaimTemplates") or ():
        wanted = template["metadata"]
        labels = {**(wanted.get("labels") or {}), **selected}
        metadata: Object = {
            "name": names[wanted["name"]],
            "namespace": stateful_set["metadata"]["namespace"],
        }
        if labels:
            metadata["labels"] = labels
        if wanted.get("annotations"):
            metadata["annotations"] = copy(wanted["annotations"])
        yield {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": metadata,
            "spec": copy(template["spec"]),
        }


def _policy(stateful_set: Object, when: str) -> str:
    policy: str = at(stateful_set, "spec", "persistentVolumeClaimRetentionPolicy", when, default="Retain")
    return policy


def _is_condemned(stateful_set: Object, pod: Object) -> bool:
    first = first_ordinal(stateful_set)
    return not first <= ordinal_of(pod) < first + stateful_set["spec"]["replicas"]


def _compute_owners(stateful_set: Object, pod: Object, claim: Object) -> list[Object]:
    owners: list[Object] = claim["metadata"].get("ownerReferences") or []
    own = (("StatefulSet", stateful_set["metadata"]["name"]), ("Pod", pod["metadata"]["name"]))
    others = [copy(owner) for owner in owners if (owner["kind"], owner["name"]) not in own]
    scaled_away = _policy(stateful_set, "whenScaled") == "Delete" and _is_condemned(stateful_set, pod)
    if scaled_away:
        return [*others, owner_reference(pod)]
    if _policy(stateful_set, "whenDeleted") == "Delete":
        return [*others, owner_reference(stateful_set)]
    return others


def _set_owners(claim: Object, owners: list[Object]) -> None:
    claim["metadata"]["ownerReferences"] = owners
