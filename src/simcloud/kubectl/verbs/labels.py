"""``kubectl label`` and ``kubectl annotate``: set, remove and list labels and annotations."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError, PlainError
from simcloud.kubectl.input.sources import read_pairs, split_pairs
from simcloud.kubectl.object_changes import (
    ALL_AND_SELECTOR,
    CHANGE_CAUSE,
    LOCAL_AND_SERVER,
    Do,
    difference,
    each,
    record,
    send_difference,
    stays_here,
)
from simcloud.kubectl.output import DryRun, Teller, dry_run
from simcloud.kubectl.selection import Info, select
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import Object, copy
from simcloud.kubernetes.api.validation import label_value

LABEL: Final = ("kubectl label pods web tier=front", "kubectl label pods web tier-")
ANNOTATE: Final = ("kubectl annotate deploy web owner=ann", "kubectl annotate deploy web owner-")


class Marks(Struct, frozen=True):
    """What is put on objects and what is taken off: labels or annotations."""

    what: str
    """``label`` or ``annotation``."""
    values: dict[str, str]
    removed: list[str]

    def of(self, obj: Object) -> dict[str, str]:
        """Those an object has."""
        found: dict[str, str] = obj["metadata"].get(f"{self.what}s") or {}
        return found

    def put_on(self, obj: Object) -> None:
        """Change an object."""
        marks = {**self.of(obj), **self.values}
        kept = {key: value for key, value in marks.items() if key not in self.removed}
        obj["metadata"].pop(f"{self.what}s", None)
        if kept:
            obj["metadata"][f"{self.what}s"] = kept


@command("label", "Set and remove labels of objects", examples=LABEL)
async def label(kubectl: Kubectl) -> None:
    """Label every object named."""
    dry_run(kubectl)
    resources, words = split_pairs(kubectl.args, "label")
    marks = Marks("label", *_labels(words))
    _refuse_nonsense(kubectl, resources, marks, "pod")
    teller = Teller(kubectl, "labeled", late=True)

    async def one(info: Info) -> None:
        known = marks.of(info.obj)
        if not stays_here(kubectl):
            for key in marks.removed:
                if key not in known:
                    await kubectl.out(f'label "{key}" not found.\n')
        if not kubectl.flags["overwrite"]:
            _keep_labels(known, marks)
        changed = copy(info.obj)
        _lock(kubectl, changed)
        marks.put_on(changed)
        record(kubectl, changed)
        done = _describe_change(known, marks, recorded=kubectl.flags["record"])
        if not stays_here(kubectl) and done != "not labeled":
            await send_difference(kubectl, info, difference(info.obj, changed))
        await teller.tell(info.resource, changed, done)

    await _each(kubectl, resources, marks, one)


def _labels(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """Labels to set, and those to remove."""
    for word in words:
        if "=" in word and word.count("=") > 1:
            raise KubectlError(f"invalid label spec: {word}")
        if "=" in word and (faults := label_value(word.partition("=")[2])):
            raise KubectlError(f'invalid label value: "{word}": {";".join(faults)}')
    values, removed = read_pairs(words, "label")
    if any(key in values for key in removed):
        raise KubectlError("can not both modify and remove a label in the same command")
    return values, removed


def _keep_labels(known: dict[str, str], marks: Marks) -> None:
    """Refuse to change labels that are there."""
    faults = [
        f"'{key}' already has a value ({known[key]}), and --overwrite is false"
        for key, value in marks.values.items()
        if known.get(key, value) != value
    ]
    if len(faults) == 1:
        raise KubectlError(faults[0])
    if faults:
        raise PlainError("\n".join(faults))


def _describe_change(known: dict[str, str], marks: Marks, recorded: bool) -> str:
    """Return the word for what was done."""
    added = any(known.get(key) != value for key, value in marks.values.items()) or recorded
    removed = any(key in known for key in marks.removed)
    if added and removed:
        return "modified"
    return "labeled" if added else "unlabeled" if removed else "not labeled"


@command("annotate", "Set and remove annotations of objects", examples=ANNOTATE)
async def annotate(kubectl: Kubectl) -> None:
    """Annotate every object named."""
    teller = Teller(kubectl, "annotated")
    if kubectl.flags["list"] and kubectl.flags["output"]:
        raise KubectlError("--list and --output may not be specified together")
    resources, words = split_pairs(kubectl.args, "annotation")
    marks = Marks("annotation", *read_pairs(words, "annotation"))
    _refuse_nonsense(kubectl, resources, marks, "rsrc")
    if both := [key for key in marks.removed if key in marks.values]:
        raise KubectlError(
            f"can not both modify and remove the following annotation(s) in the same command: {', '.join(both)}"
        )

    async def one(info: Info) -> None:
        if not kubectl.flags["overwrite"]:
            _keep_annotations(marks.of(info.obj), marks)
        changed = copy(info.obj)
        record(kubectl, changed)
        _lock(kubectl, changed)
        marks.put_on(changed)
        if not stays_here(kubectl):
            changed = await send_difference(kubectl, info, difference(info.obj, changed))
        await teller.tell(info.resource, changed)

    await _each(kubectl, resources, marks, one)


def _keep_annotations(known: dict[str, str], marks: Marks) -> None:
    faults = [
        f"'{key}' already has a value ({known[key]})"
        for key, value in marks.values.items()
        if key != CHANGE_CAUSE and known.get(key, value) != value
    ]
    if faults:
        raise KubectlError(
            f"--overwrite is false but found the following declared annotation(s): {'; '.join(faults)}"
        )


def _refuse_nonsense(kubectl: Kubectl, resources: list[str], marks: Marks, file: str) -> None:
    flags = kubectl.flags
    if flags["list"] and flags["output"]:
        raise KubectlError("--list and --output may not be specified together")
    if flags["all"] and flags["selector"]:
        raise KubectlError(ALL_AND_SELECTOR)
    if flags["all"] and flags["field-selector"]:
        raise KubectlError("cannot set --all and --field-selector at the same time")
    files = flags["filename"] or flags["kustomize"]
    if flags["local"]:
        if dry_run(kubectl) is DryRun.SERVER:
            raise KubectlError(LOCAL_AND_SERVER)
        form = f"-f {file}.yaml or --filename={file}.json"
        if resources:
            raise KubectlError(f"can only use local files by {form} when --local=true is set")
        if not files:
            raise KubectlError(f"one or more files must be specified as {form}")
    elif not resources and not files:
        raise KubectlError(
            "one or more resources must be specified as <resource> <name> or <resource>/<name>"
        )
    if not marks.values and not marks.removed and not flags["list"]:
        raise KubectlError(f"at least one {marks.what} update is required")


def _lock(kubectl: Kubectl, obj: Object) -> None:
    """Ask the server to refuse the change if the object is of another version."""
    if kubectl.flags["resource-version"]:
        obj["metadata"]["resourceVersion"] = kubectl.flags["resource-version"]


async def _each(kubectl: Kubectl, resources: list[str], marks: Marks, do: Do) -> None:
    flags = kubectl.flags
    local = bool(flags["local"])
    single = _is_single(kubectl, resources)
    infos = await select(kubectl, resources, fetch_files=not local)
    if flags["resource-version"] and not single:
        raise KubectlError("--resource-version may only be used with a single resource")

    async def print_marks(info: Info) -> None:
        changed = copy(info.obj)
        marks.put_on(changed)
        if not single:
            named = f"{info.resource.kind}.{info.resource.group}/{info.name}"
            await kubectl.out(f"Listing {marks.what}s for {named}:\n")
        for key, value in sorted(marks.of(changed).items()):
            await kubectl.out(f"{'' if single else ' '}{key}={value}\n")

    await each(kubectl, infos, print_marks if flags["list"] else do)


def _is_single(kubectl: Kubectl, resources: list[str]) -> bool:
    """Whether the words can only mean one object."""
    if files := kubectl.flags["filename"]:
        return len(files) == 1 and not kubectl.ctx.files.is_dir(files[0])
    if "/" in resources[0]:
        return len(resources) == 1
    return len(resources) == 2 and "," not in resources[0]
