"""DefaultTolerationSeconds: pods tolerate a not-ready or unreachable node for five minutes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simcloud.kubernetes.api.admission.plugin import PODS, Quiet
from simcloud.kubernetes.api.objects import Object

if TYPE_CHECKING:
    from simcloud.kubernetes.api.context import Write

_TAINTS: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
STAY_S: Final = 300


class TolerationSeconds(Quiet):
    """Says how long a pod tolerates a lost node, unless it says so itself."""

    resources = (PODS,)

    def admit(self, write: Write) -> None:
        if write.resource.key != PODS or write.operation != "CREATE" or write.subresource:
            return
        tolerations: list[Any] = write.new["spec"].get("tolerations") or []
        for taint in _TAINTS:
            if not any(_tolerates(toleration, taint) for toleration in tolerations):
                tolerations.append(
                    {"effect": "NoExecute", "key": taint, "operator": "Exists", "tolerationSeconds": STAY_S}
                )
        write.new["spec"]["tolerations"] = tolerations


def _tolerates(toleration: Object, taint: str) -> bool:
    return toleration.get("key") in (taint, None, "") and toleration.get("effect") in ("NoExecute", None, "")
