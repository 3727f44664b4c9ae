"""Kinds whose status subresource may change nothing but the status: no label, no annotation, no finalizer."""

from __future__ import annotations

from simcloud.kubernetes.api.strategies.metadata import keep_user_metadata
from simcloud.kubernetes.api.strategies.registry import on_status_update

on_status_update("admissionregistration.k8s.io", "ValidatingAdmissionPolicy")(keep_user_metadata)
on_status_update("apiextensions.k8s.io", "CustomResourceDefinition")(keep_user_metadata)
on_status_update("apiregistration.k8s.io", "APIService")(keep_user_metadata)
on_status_update("flowcontrol.apiserver.k8s.io", "FlowSchema", "PriorityLevelConfiguration")(
    keep_user_metadata
)
on_status_update("networking.k8s.io", "ServiceCIDR")(keep_user_metadata)
on_status_update("resource.k8s.io", "ResourceClaim")(keep_user_metadata)
on_status_update("storage.k8s.io", "VolumeAttachment")(keep_user_metadata)
