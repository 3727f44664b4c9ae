"""The variables of CEL expressions in admission, and the messages of failed expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simcloud.kubernetes.api.access.attributes import Attributes
from simcloud.kubernetes.api.admission.authorizer import Judge
from simcloud.kubernetes.api.admission.plugin import namespace_of
from simcloud.kubernetes.api.admission.review import admission_request, new_object, old_object
from simcloud.kubernetes.api.cel import CelError, CelSyntaxError, compile_expression
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.resources import Resource

if TYPE_CHECKING:
    from simcloud.kubernetes.api.context import Write


class Composed(dict[str, Any]):
    """The variables that a policy composes, each evaluated when it is first asked for."""

    def __init__(self, listed: list[Object], scope: dict[str, Any]) -> None:
        super().__init__()
        self._expressions = {variable["name"]: variable["expression"] for variable in listed}
        self._scope = scope

    def __contains__(self, name: object) -> bool:
        return name in self._expressions

    def __missing__(self, name: str) -> Any:
        try:
            value = compile_expression(self._expressions[name]).evaluate(self._scope)
        except CelError as error:
            raise CelError(f'composited variable "{name}" fails to evaluate: {error}') from None
        self[name] = value
        return value


def scope_of(write: Write, resource: Resource, uid: str = "") -> dict[str, Any]:
    """What every expression of admission may speak of."""
    namespace = None
    if write.resource.namespaced:
        namespace = namespace_of(write)
    return {
        "authorizer": _judge(write),
        "object": new_object(write, resource),
        "oldObject": old_object(write, resource),
        "request": admission_request(write, resource, uid),
        "namespaceObject": namespace,
    }


def _judge(write: Write) -> Judge:
    resource, key = write.resource, write.key
    wish = Attributes(
        write.caller.user,
        "",
        resource.group,
        resource.version,
        resource.plural,
        write.subresource,
        key.namespace,
        key.name,
    )
    return Judge(write.api.authorizer, write.caller.user, wish)


def evaluate(expression: str, scope: dict[str, Any]) -> Any:
    """An expression's value. ``CelError`` carries the sentence that a policy's refusal tells."""
    try:
        return compile_expression(expression).evaluate(scope)
    except CelSyntaxError as error:
        raise CelError(f"compilation error: compilation failed: {error}") from None
    except CelError as error:
        raise CelError(f"expression '{expression}' resulted in error: {error}") from None


def conditions_hold(conditions: list[Object], scope: dict[str, Any]) -> bool:
    """Whether all match conditions hold. One that fails counts only if no other is false."""
    failures: list[str] = []
    for condition in conditions:
        try:
            if evaluate(condition["expression"], scope) is not True:
                return False
        except CelError as error:
            failures.append(str(error))
    if failures:
        raise CelError(failures[0] if len(failures) == 1 else f"[{', '.join(failures)}]")
    return True
