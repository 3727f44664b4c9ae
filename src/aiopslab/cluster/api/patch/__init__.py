"""Patches: JSON patch, JSON merge patch and strategic merge patch, as functions on JSON data."""

from aiopslab.cluster.api.patch.body import PatchType, patch_type_of, read_patch
from aiopslab.cluster.api.patch.conversion import check_types
from aiopslab.cluster.api.patch.errors import DoesNotApply, Unclassified
from aiopslab.cluster.api.patch.json_patch import json_patch
from aiopslab.cluster.api.patch.merge_patch import merge_patch
from aiopslab.cluster.api.patch.strategic import strategic_merge

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
