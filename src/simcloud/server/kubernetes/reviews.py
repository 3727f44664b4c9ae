"""Reviews: questions that are answered and not stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simcloud.kubernetes.api.access.reviews import Desk, review
from simcloud.kubernetes.api.access.users import User
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.schema.decoding import check_kind, decode
from simcloud.server.kubernetes.paths import Target

if TYPE_CHECKING:
    from simcloud.kubernetes.api.api import Api

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
