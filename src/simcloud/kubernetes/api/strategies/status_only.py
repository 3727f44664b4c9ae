"""Kinds whose status subresource may change nothing but the status: no label, no annotation, no finalizer."""

from __future__ import annotations

from simcloud.kubernetes.api.strategies.metadata import keep_user_metadata
from simcloud.kubernetes.api.strategies.registry import on_status_update

on_status_update("admissionregistration.k8s.io", "ValidatingAdmissionPolicy")(keep_user_metadata)
on_status_update("apiextensions.k8s.io", "CustomResourceDefinition")(keep_user_metadata)
on_status_update("apiregistration.k8s.io", "APIService")(keep_user_metadata)
