"""Schemas of all kinds."""

from simcloud.kubernetes.api.schema.builtin import schema_of
from simcloud.kubernetes.api.schema.types import ANYTHING, Schema, Shape

__all__ = ["ANYTHING", "Schema", "Shape", "schema_of"]
