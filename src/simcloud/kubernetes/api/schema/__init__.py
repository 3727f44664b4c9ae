"""Schemas of all kinds."""

from simcloud.exports import export_lazily
from simcloud.kubernetes.api.schema.builtin import kinds as kinds, schema_of as schema_of
from simcloud.kubernetes.api.schema.types import ANYTHING as ANYTHING, Schema as Schema, Shape as Shape

with export_lazily(globals()):
    from simcloud.kubernetes.api.schema import go_json as go_json, openapi as openapi
    from simcloud.kubernetes.api.schema.bodies import parse_json as parse_json
    from simcloud.kubernetes.api.schema.decoding import (
        CannotDecode as CannotDecode,
        check_kind as check_kind,
        decode as decode,
        decode_typed as decode_typed,
        read_body as read_body,
    )
    from simcloud.kubernetes.api.schema.encoding import complete as complete
    from simcloud.kubernetes.api.schema.go_fields import in_struct_order as in_struct_order
    from simcloud.kubernetes.api.schema.scalars import Unreadable as Unreadable, read_time as read_time
