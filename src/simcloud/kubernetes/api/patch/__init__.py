"""Patches: JSON patch, JSON merge patch and strategic merge patch, as functions on JSON data."""

from simcloud.kubernetes.api.patch.body import (
    PatchType as PatchType,
    patch_type_of as patch_type_of,
    read_patch as read_patch,
)
from simcloud.kubernetes.api.patch.conversion import check_types as check_types
from simcloud.kubernetes.api.patch.errors import DoesNotApply as DoesNotApply, Unclassified as Unclassified
from simcloud.kubernetes.api.patch.json_patch import apply_json_patch as apply_json_patch
from simcloud.kubernetes.api.patch.merge_patch import merge_patch as merge_patch
from simcloud.kubernetes.api.patch.strategic import strategic_merge as strategic_merge
