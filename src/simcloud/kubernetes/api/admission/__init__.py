"""Admission: what may change or refuse a write after it is read and before it is stored.

A plugin has two moments: ``admit`` may change ``write.new``, ``check`` sees the finished object. Both
refuse by raising an ``ApiError``. The order of ``ADMISSION`` is the genuine server's, one module for each
concern. Plugins keep nothing between writes: what they need they read from the log.
"""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.admission.default_classes import DefaultIngressClass, DefaultStorageClass
from simcloud.kubernetes.api.admission.escalation import NoEscalation
from simcloud.kubernetes.api.admission.limit_ranges import LimitRanger
from simcloud.kubernetes.api.admission.namespaces import NamespaceLifecycle
from simcloud.kubernetes.api.admission.nodes import NodeRestriction, TaintNodes
from simcloud.kubernetes.api.admission.plugin import Plugin
from simcloud.kubernetes.api.admission.pod_security import PodSecurity
from simcloud.kubernetes.api.admission.policies import ValidatingPolicies
from simcloud.kubernetes.api.admission.priority import PodPriority
from simcloud.kubernetes.api.admission.quota import QuotaLimits
from simcloud.kubernetes.api.admission.service_accounts import ServiceAccounts
from simcloud.kubernetes.api.admission.storage import ClaimResize, InUseProtection
from simcloud.kubernetes.api.admission.tolerations import TolerationSeconds
from simcloud.kubernetes.api.admission.topology import TopologyLabels
from simcloud.kubernetes.api.admission.webhooks import MutatingWebhooks, ValidatingWebhooks

__all__ = ["ADMISSION", "Plugin"]

ADMISSION: Final[tuple[Plugin, ...]] = (
    NamespaceLifecycle(),
    LimitRanger(),
    ServiceAccounts(),
    NodeRestriction(),
    TaintNodes(),
    PodSecurity(),
    PodPriority(),
    TolerationSeconds(),
    DefaultStorageClass(),
    InUseProtection(),
    ClaimResize(),
    DefaultIngressClass(),
    TopologyLabels(),
    NoEscalation(),
    MutatingWebhooks(),
    ValidatingPolicies(),
    ValidatingWebhooks(),
    QuotaLimits(),
)
