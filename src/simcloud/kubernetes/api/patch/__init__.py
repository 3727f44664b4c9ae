"""Patches: JSON patch, JSON merge patch and strategic merge patch, as functions on JSON data."""

from simcloud.kubernetes.api.patch.body import PatchType, patch_type_of, read_patch
from simcloud.kubernetes.api.patch.conversion import check_types
from simcloud.kubernetes.api.patch.errors import DoesNotApply, Unclassified
from simcloud.kubernetes.api.patch.json_patch import json_patch
from simcloud.kubernetes.api.patch.merge_patch import merge_patch
from simcloud.kubernetes.api.patch.strategic import strategic_merge

__all__ = [
    "DoesNotApply",
    "PatchType",
    "Unclassified",
    "check_types",
    "json_patch",
    "merge_patch",
    "patch_type_of",
    "read_patch",
    "strategic_merge",
]
