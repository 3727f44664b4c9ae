"""Refuses roles and bindings that grant permissions which their writer does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simcloud.kubernetes.api.access.escalation import check_escalation
from simcloud.kubernetes.api.admission.plugin import Quiet

if TYPE_CHECKING:
    from simcloud.kubernetes.api.context import Write


class NoEscalation(Quiet):
    """The RBAC storage's own rule, asked where admission is asked."""

    def check(self, write: Write) -> None:
        if write.resource.group == "rbac.authorization.k8s.io" and write.operation != "DELETE":
            check_escalation(write.api.authorizer, write.caller.user, write.resource, write.new, write.old)
