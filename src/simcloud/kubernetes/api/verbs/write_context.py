"""The parts of the API server that create, update, patch, delete and the subresources use."""

from __future__ import annotations

from typing import Protocol

from simcloud.kubernetes.api.access.tokens import Tokens
from simcloud.kubernetes.api.admission.plugin import Plugin
from simcloud.kubernetes.api.allocation import Addresses
from simcloud.kubernetes.api.context import AdmissionContext, ReadContext
from simcloud.kubernetes.api.custom_resources import CustomResources
from simcloud.kubernetes.api.verbs.reads import CoreOf


class WriteContext(ReadContext, AdmissionContext, Protocol):
    """What a write passes through on its way to the log."""

    admission: list[Plugin]
    addresses: Addresses
    custom: CustomResources
    core: CoreOf
    tokens: Tokens
