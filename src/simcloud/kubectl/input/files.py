"""Objects from files for the verbs that take them, with the errors of the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from simcloud.kubectl.errors import KubectlError, UsageError, WithContext, sentence, tell
from simcloud.kubectl.input.manifests import read_tolerantly
from simcloud.kubectl.selection import Info, locate
from simcloud.kubernetes.api import ApiError, selectors

if TYPE_CHECKING:
    from simcloud.kubectl.session import Kubectl

Failures = list[Exception]


class Given(Struct):
    """Objects from files, and what failed so far."""

    infos: list[Info] = field(default_factory=list)
    failures: Failures = field(default_factory=list)


def need_files(kubectl: Kubectl) -> None:
    """Refuse a line without ``-f`` and ``-k``, or with words."""
    flags = kubectl.flags
    if kubectl.args:
        raise UsageError(f"Unexpected args: [{' '.join(kubectl.args)}]", kubectl.command.full)
    if not flags["filename"] and not flags["kustomize"]:
        raise KubectlError("must specify one of -f and -k")
    if flags["filename"] and flags["kustomize"]:
        raise KubectlError("only one of -f or -k can be specified")


async def read_given(kubectl: Kubectl, *, validate: bool = False) -> Given:
    """Read the objects of the files named, filtered by ``-l`` where the verb has it."""
    flags = kubectl.flags
    read = await read_tolerantly(
        kubectl,
        flags["filename"],
        bool(flags.get("recursive")),
        flags.get("kustomize") or "",
        validate=validate,
    )
    found = Given(failures=list(read.errors))
    connection = await kubectl.connect()
    selector = selectors.parse_labels(flags.get("selector") or "")
    for document in read.documents:
        try:
            info = locate(kubectl, connection.catalogue, document)
        except KubectlError as error:
            found.failures.append(error)
            continue
        labels = (info.obj.get("metadata") or {}).get("labels")
        if selector.matches(labels):
            found.infos.append(info)
    return found


def with_source(doing: str, source: str, error: ApiError) -> Exception:
    """A refusal of an object from a file."""
    return WithContext(f'error when {doing} "{source}"', error) if source else error


def fail(kubectl: Kubectl, failures: Failures) -> None:
    """Tell at the end what failed."""
    alone = len(failures) == 1
    kubectl.postponed.extend(
        _format_failure(failure) if isinstance(failure, WithContext) else tell(failure, alone=alone)
        for failure in failures
    )


def _format_failure(failure: WithContext) -> str:
    """Format a failure; a refusal that lists faults names its object instead of the file."""
    if failure.error.reason == "Invalid":
        return sentence(failure.error)
    return sentence(failure.error, failure.doing)
