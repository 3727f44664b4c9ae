"""Admission: plugins that change or refuse a write after decoding and before storage.

A plugin has two phases: ``admit`` may change ``write.new``, ``check`` sees the finished object. Both refuse by
raising an ``ApiError``. ``ADMISSION`` has the order of the genuine server, with one module per plugin. Plugins keep
no state between writes; they read what they need from the log.
"""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.admission.default_classes import DefaultIngressClass, DefaultStorageClass
from simcloud.kubernetes.api.admission.escalation import NoEscalation
from simcloud.kubernetes.api.admission.limit_ranges import LimitRanger
from simcloud.kubernetes.api.admission.namespaces import NamespaceLifecycle
from simcloud.kubernetes.api.admission.nodes import NodeRestriction, TaintNodes
from simcloud.kubernetes.api.admission.plugin import Plugin as Plugin
from simcloud.kubernetes.api.admission.pod_security import PodSecurity
from simcloud.kubernetes.api.admission.policies import ValidatingPolicies
from simcloud.kubernetes.api.admission.priority import PodPriority
from simcloud.kubernetes.api.admission.quota import QuotaLimits
from simcloud.kubernetes.api.admission.service_accounts import ServiceAccounts
from simcloud.kubernetes.api.admission.storage import ClaimResize, InUseProtection
from simcloud.kubernetes.api.admission.tolerations import TolerationSeconds
from simcloud.kubernetes.api.admission.topology import TopologyLabels
from simcloud.kubernetes.api.admission.webhooks import MutatingWebhooks, ValidatingWebhooks

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
