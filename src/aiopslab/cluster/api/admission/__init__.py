"""Admission: what may change or refuse a write after it is read and before it is stored.

A plugin has two moments: ``admit`` may change ``write.new``, ``check`` sees the finished object. Both
refuse by raising an ``ApiError``. The order of ``ADMISSION`` is the genuine server's, one module for each
concern. Plugins keep nothing between writes: what they need they read from the log.
"""

from __future__ import annotations

from typing import Final

from aiopslab.cluster.api.admission.certificates import (
    CertificateApproval,
    CertificateSigning,
    CertificateSubjectRestriction,
)
from aiopslab.cluster.api.admission.default_classes import DefaultIngressClass, DefaultStorageClass
from aiopslab.cluster.api.admission.escalation import NoEscalation
from aiopslab.cluster.api.admission.limit_ranges import LimitRanger
from aiopslab.cluster.api.admission.mutating_policies import MutatingPolicies
from aiopslab.cluster.api.admission.namespaces import NamespaceLifecycle
from aiopslab.cluster.api.admission.nodes import NodeRestriction, TaintNodes
from aiopslab.cluster.api.admission.plugin import Plugin
from aiopslab.cluster.api.admission.pod_security import PodSecurity
from aiopslab.cluster.api.admission.policies import ValidatingPolicies
from aiopslab.cluster.api.admission.priority import PodPriority
from aiopslab.cluster.api.admission.quota import QuotaLimits
from aiopslab.cluster.api.admission.runtime_classes import RuntimeClasses
from aiopslab.cluster.api.admission.service_accounts import ServiceAccounts
from aiopslab.cluster.api.admission.storage import ClaimResize, InUseProtection
from aiopslab.cluster.api.admission.tolerations import TolerationSeconds
from aiopslab.cluster.api.admission.topology import TopologyLabels
from aiopslab.cluster.api.admission.webhooks import MutatingWebhooks, ValidatingWebhooks

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
    RuntimeClasses(),
    CertificateApproval(),
    CertificateSigning(),
    CertificateSubjectRestriction(),
    DefaultIngressClass(),
    TopologyLabels(),
    NoEscalation(),
    MutatingPolicies(),
    MutatingWebhooks(),
    ValidatingPolicies(),
    ValidatingWebhooks(),
    QuotaLimits(),
)
