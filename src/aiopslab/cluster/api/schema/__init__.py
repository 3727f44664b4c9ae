"""The shape of every kind."""

from aiopslab.cluster.api.schema.builtin import schema_of
from aiopslab.cluster.api.schema.types import ANYTHING, Schema, Shape

__all__ = ["ANYTHING", "Schema", "Shape", "schema_of"]
