"""Names, ordinals and labels of a StatefulSet's pods."""

from __future__ import annotations

import re
from typing import Final

from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.controllers.pods import from_template, is_available, is_leaving, is_ready

POD_NAME: Final = "statefulset.kubernetes.io/pod-name"
POD_INDEX: Final = "apps.kubernetes.io/pod-index"
REVISION_HASH: Final = "controller-revision-hash"
_NAME: Final = re.compile(r"(.*)-([0-9]+)\Z")


def ordinal_of(pod: Object) -> int:
    """A pod's number in its set; -1 if its name tells none."""
    match = _NAME.match(pod["metadata"]["name"])
    return int(match[2]) if match else -1


def is_member(stateful_set: Object, pod: Object) -> bool:
    """Whether a pod's name makes it one of the set's."""
    match = _NAME.match(pod["metadata"]["name"])
    return match is not None and match[1] == stateful_set["metadata"]["name"]


def first_ordinal(stateful_set: Object) -> int:
    """Where the set begins to count."""
    first: int = at(stateful_set, "spec", "ordinals", "start", default=0)
    return first


def revision_of(pod: Object) -> str:
    """The name of the revision that a pod was made from."""
    name: str = (pod["metadata"].get("labels") or {}).get(REVISION_HASH, "")
    return name


def is_created(pod: Object) -> bool:
    """Whether a pod is stored, and not only drafted."""
    return "uid" in pod["metadata"]


def is_running_and_ready(pod: Object) -> bool:
    """Whether the next one may be made."""
    return at(pod, "status", "phase") == "Running" and is_ready(pod)


def is_running_and_available(pod: Object, min_ready_s: int, now_s: float) -> bool:
    """Whether it has been ready for long enough."""
    return at(pod, "status", "phase") == "Running" and is_available(pod, min_ready_s, now_s)


def is_unavailable(pod: Object, min_ready_s: int, now_s: float) -> bool:
    """Whether it cannot be counted on."""
    return is_leaving(pod) or not is_running_and_available(pod, min_ready_s, now_s)


def identity_labels(name: str, ordinal: int) -> Object:
    """The labels by which a single pod can be selected."""
    return {POD_NAME: name, POD_INDEX: str(ordinal)}


def draft_pod(stateful_set: Object, template: Object, revision: str, ordinal: int) -> Object:
    """The pod of an ordinal, not stored yet."""
    pod = from_template(template, stateful_set)
    name = f"{stateful_set['metadata']['name']}-{ordinal}"
    metadata, spec = pod["metadata"], pod["spec"]
    metadata["name"] = name
    metadata["labels"] = {
        **metadata.get("labels", {}),
        **identity_labels(name, ordinal),
        REVISION_HASH: revision,
    }
    spec["hostname"] = name
    if stateful_set["spec"].get("serviceName"):
        spec["subdomain"] = stateful_set["spec"]["serviceName"]
    claimed = claim_names(stateful_set, ordinal)
    volumes = [
        {"name": volume, "persistentVolumeClaim": {"claimName": claim}} for volume, claim in claimed.items()
    ]
    volumes += [volume for volume in spec.get("volumes") or () if volume["name"] not in claimed]
    if volumes:
        spec["volumes"] = volumes
    return pod


def claim_names(stateful_set: Object, ordinal: int) -> dict[str, str]:
    """The names of a pod's claims, by the name of the volume."""
    name = stateful_set["metadata"]["name"]
    templates = stateful_set["spec"].get("volumeClaimTemplates") or ()
    return {
        template["metadata"]["name"]: f"{template['metadata']['name']}-{name}-{ordinal}"
        for template in templates
    }
