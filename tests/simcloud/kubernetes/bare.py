"""Clusters in which few loops run: what admission leaves to a loop to complete or undo is left out."""

from __future__ import annotations

from simcloud.kubernetes.api.admission.nodes import TaintNodes
from simcloud.kubernetes.api.admission.service_accounts import ServiceAccounts
from simcloud.kubernetes.api.api import Api


def without_loops(api: Api) -> Api:
    """The same API, which asks for no service accounts and does not taint new nodes as not ready."""
    api.admission = [one for one in api.admission if not isinstance(one, ServiceAccounts | TaintNodes)]
    return api
