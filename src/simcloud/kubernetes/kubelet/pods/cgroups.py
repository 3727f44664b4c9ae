"""Where the kernel accounts for the containers of a pod, and how ready it is to kill them for memory."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.kubelet.pods.parts import requests_of

ROOT: Final = "/kubelet.slice/kubelet-kubepods.slice"
CRITICAL_PRIORITY: Final = 2_000_000_000
GUARANTEED_SCORE: Final = -997
BEST_EFFORT_SCORE: Final = 1000


def name_cgroup(pod: Object) -> str:
    """The cgroup of a pod, by its class of service."""
    service = _service_class(pod)
    middle = "" if service == "Guaranteed" else f"-{service.lower()}"
    folder = f"/kubelet-kubepods{middle}.slice" if middle else ""
    uid = pod["metadata"]["uid"].replace("-", "_")
    return f"{ROOT}{folder}/kubelet-kubepods{middle}-pod{uid}.slice"


def adjust_oom_score(pod: Object, container: Object, memory_bytes: int) -> int:
    """The adjustment of a container: the more memory it requests, the later it is killed."""
    service = _service_class(pod)
    if service == "Guaranteed" or (pod["spec"].get("priority") or 0) >= CRITICAL_PRIORITY:
        return GUARANTEED_SCORE
    if service == "BestEffort":
        return BEST_EFFORT_SCORE
    asked = quantity.whole(requests_of(container).get("memory", "0"))
    score = BEST_EFFORT_SCORE - 1000 * asked // memory_bytes
    return max(1000 + GUARANTEED_SCORE, min(score, BEST_EFFORT_SCORE - 1))


def _service_class(pod: Object) -> str:
    return str((pod.get("status") or {}).get("qosClass") or "BestEffort")
