"""The variable ``authorizer`` of CEL expressions: permission checks of the writer or of a service account."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from simcloud.kubernetes.api.access.attributes import Attributes
from simcloud.kubernetes.api.access.rbac import Authorizer, Decision
from simcloud.kubernetes.api.access.users import User, service_account_user
from simcloud.kubernetes.api.cel.values import Asked


class Judge(Asked, Struct, frozen=True):
    """Begins a question: of a path, of a group's resource, or of another account."""

    authorizer: Authorizer
    user: User
    request: Attributes
    """The wish that is being served."""

    def part(self, field: str) -> Any:
        """``requestResource``: the question about the very object that is written."""
        if field != "requestResource":
            return super().part(field)
        return Question(self.authorizer, self.request)

    def answer(self, method: str, *arguments: Any) -> Any:
        """``path``, ``group`` or ``serviceAccount``."""
        match method, arguments:
            case "path", (str(path),):
                return Question(self.authorizer, Attributes(self.user, "", path=path))
            case "group", (str(group),):
                return Question(self.authorizer, Attributes(self.user, "", group=group))
            case "serviceAccount", (str(namespace), str(name)):
                account = service_account_user(namespace, name)
                return Judge(self.authorizer, account, replace(self.request, user=account))
        raise TypeError


_PARTS = {"resource": "plural", "subresource": "subresource", "namespace": "namespace", "name": "name"}


class Question(Asked, Struct, frozen=True):
    """Request attributes that are set one by one; selectors do not narrow them."""

    authorizer: Authorizer
    wish: Attributes

    def answer(self, method: str, *arguments: Any) -> Any:
        """Another part of the wish, or ``check`` with a verb."""
        match method, arguments:
            case "check", (str(verb),):
                return Verdict(self.authorizer.authorize(replace(self.wish, verb=verb)))
            case (("fieldSelector" | "labelSelector"), (str(),)):
                return self
            case part, (str(value),) if part in _PARTS and self.wish.path is None:
                change: dict[str, Any] = {_PARTS[part]: value}
                return Question(self.authorizer, replace(self.wish, **change))
        raise TypeError


class Verdict(Asked, Struct, frozen=True):
    """A decision."""

    decision: Decision

    def answer(self, method: str, *arguments: Any) -> Any:
        """``allowed``, ``reason``, and the error that there never is."""
        match method, arguments:
            case "allowed", ():
                return self.decision.allowed
            case "reason", ():
                return self.decision.reason
            case "errored", ():
                return False
            case "error", ():
                return ""
        raise TypeError
