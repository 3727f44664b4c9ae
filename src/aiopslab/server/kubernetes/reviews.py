"""Reviews: questions that are answered and not stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from aiopslab.cluster.api.access.reviews import Desk, review
from aiopslab.cluster.api.access.users import User
from aiopslab.cluster.api.objects import Object
from aiopslab.cluster.api.resources import Resource
from aiopslab.cluster.api.schema.decoding import check_kind, decode
from aiopslab.server.kubernetes.paths import Target

if TYPE_CHECKING:
    from aiopslab.cluster.api.api import Api

NAMES: Final = frozenset(
    {
        "localsubjectaccessreviews",
        "selfsubjectaccessreviews",
        "selfsubjectreviews",
        "selfsubjectrulesreviews",
        "subjectaccessreviews",
        "tokenreviews",
    }
)


def answered(api: Api, resource: Resource, target: Target, data: Any, user: User) -> Object:
    """The review with its answer."""
    check_kind(data, resource)
    asked = decode(data, resource).obj
    desk = Desk(user, api.authorizer, api.tokens, api.now_s, target.namespace)
    return review(resource.kind, asked, desk)
