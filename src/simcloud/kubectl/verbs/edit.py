"""``kubectl edit``: opens objects in an editor and sends what was changed.

An edit that the server rejects is opened again with the reason above it, until a save changes nothing more.
"""

from __future__ import annotations

from typing import Any, Final

from simcloud.golang import format_json, quote
from simcloud.kubectl.apply.three_way import merge_three_way
from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError, sentence
from simcloud.kubectl.input.documents import parse_documents
from simcloud.kubectl.object_changes import record, send
from simcloud.kubectl.printing.lists import without_managed_fields
from simcloud.kubectl.printing.yaml_form import as_yaml
from simcloud.kubectl.selection import Info, select
from simcloud.kubectl.session import Kubectl
from simcloud.kubectl.verbs.delete import NOTHING_SAID
from simcloud.kubernetes.api import ApiError, Invalid, Object
from simcloud.machine.process import CommandNotFound, ForkFailed, NotExecutable

EXAMPLES: Final = (
    "kubectl edit svc/web",
    "KUBE_EDITOR='sed -i s/8080/80/' kubectl edit svc/web",
)
HEADING: Final = """\
# Please edit the object below. Lines beginning with a '#' will be ignored,
# and an empty file will abort the edit. If an error occurs while saving this file will be
# reopened with the relevant failures.
#
"""
DEFAULT_EDITOR: Final = "vi"


@command("edit", "Edit objects in an editor", examples=EXAMPLES)
async def edit(kubectl: Kubectl) -> None:
    """Edit the objects named, all in one file."""
    flags = kubectl.flags
    if not kubectl.args and not flags["filename"] and not flags["kustomize"]:
        raise KubectlError(NOTHING_SAID)
    infos = await select(kubectl, kubectl.args, everything=True, fetch_files=True)
    if infos:
        await Editing(kubectl, infos).run()


class Editing:
    """One edit: its objects, its file, and what was wrong with the last save."""

    def __init__(self, kubectl: Kubectl, infos: list[Info]) -> None:
        self._kubectl = kubectl
        self._infos = infos
        self._kind = "json" if kubectl.flags["output"] == "json" else "yaml"
        self._reasons: list[str] = []

    async def run(self) -> None:
        """Open the editor until a save was accepted or changes nothing."""
        original = self._format_objects().encode()
        before, saved = original, b""
        while True:
            saved, path = await self._let_edit(HEADING.encode() + self._format_reasons() + before)
            body = _remove_comments(saved)
            if self._reasons and body == _remove_comments(before):
                await self._tell_copy(path)
                raise KubectlError("Edit cancelled, no valid changes were saved.")
            if not self._reasons and body == original:
                await self._cancel(path, "no changes made")
                return
            if not body.strip():
                await self._cancel(path, "saved file was empty")
                return
            self._reasons = []
            await self._send(body, path)
            if not self._reasons:
                self._kubectl.ctx.files.remove(path)
                return
            before = body

    async def _cancel(self, path: str, why: str) -> None:
        self._kubectl.ctx.files.remove(path)
        await self._kubectl.err(f"Edit cancelled, {why}.\n")

    async def _send(self, body: bytes, path: str) -> None:
        """Send the differences; mistakes that another edit can repair are kept as reasons."""
        try:
            objects = self._read_objects(body, path)
        except KubectlError as error:
            self._reasons = [f"The edited file had a syntax error: {error.message}"]
            return
        for info, edited in zip(self._infos, objects, strict=False):
            before = self._select_fields(info.obj)
            record(self._kubectl, edited)
            change = merge_three_way(info.resource, before, edited, before)
            if not change.body:
                await self._kubectl.out(f"{info.shown} skipped\n")
                continue
            try:
                after = await send(self._kubectl, info, change, self._kubectl.flags["subresource"])
            except Invalid as error:
                self._reasons += _format_causes(info, error)
                await self._kubectl.err(f"error: {_format_name(info)} is invalid\n")
                continue
            except ApiError as error:
                await self._tell_copy(path)
                await self._kubectl.complain(sentence(error))
                continue
            info.obj = after
            await self._kubectl.out(f"{info.shown} edited\n")

    def _read_objects(self, body: bytes, path: str) -> list[Object]:
        documents: list[Any] = [document for document in parse_documents(body, path) if document]
        if len(documents) == 1 and isinstance(documents[0], dict) and len(self._infos) > 1:
            documents = documents[0].get("items") or []
        if not documents or not all(isinstance(document, dict) for document in documents):
            raise KubectlError("the file holds no object")
        return documents

    # -- the file ------------------------------------------------------------------------------

    def _select_fields(self, obj: Object) -> Object:
        return obj if self._kubectl.flags["show-managed-fields"] else without_managed_fields(obj)

    def _format_objects(self) -> str:
        objects = [self._select_fields(info.obj) for info in self._infos]
        shown = objects[0]
        if len(objects) > 1:
            shown = {"apiVersion": "v1", "items": objects, "kind": "List", "metadata": {}}
        return format_json(shown) + "\n" if self._kind == "json" else as_yaml(shown)

    def _format_reasons(self) -> bytes:
        return "".join(f"# {reason}\n" for reason in [*self._reasons, ""] if self._reasons).encode()

    async def _let_edit(self, text: bytes) -> tuple[bytes, str]:
        """Write the file, run the editor on it, and return what it holds afterwards, and its path."""
        ctx = self._kubectl.ctx
        path = f"/tmp/kubectl-edit-{ctx.random('kubectl.edit').randrange(1 << 32)}.{self._kind}"
        ctx.files.put(path, text, mode=0o600)
        editor = ctx.env.get("KUBE_EDITOR") or ctx.env.get("EDITOR") or DEFAULT_EDITOR
        in_shell = any(character in editor for character in "\"'\\")
        argv = ["bash", "-c", f'{editor} "{path}"'] if in_shell else [*editor.split(), path]
        named = quote(f"bash -c {editor}" if in_shell else editor)
        try:
            status = await ctx.start(argv).wait()
        except (CommandNotFound, NotExecutable, ForkFailed):
            ctx.files.remove(path)
            raise KubectlError(f"unable to launch the editor {named}") from None
        if status:
            await self._tell_copy(path)
            raise KubectlError(f"there was a problem with the editor {named}")
        return ctx.files.read(path), path

    async def _tell_copy(self, path: str) -> None:
        await self._kubectl.err(f"A copy of your changes has been stored to {quote(path)}\n")


def _remove_comments(text: bytes) -> bytes:
    return b"".join(line for line in text.splitlines(keepends=True) if not line.lstrip().startswith(b"#"))


def _format_name(info: Info) -> str:
    group = f".{info.resource.group}" if info.resource.group else ""
    return f"{info.resource.plural}{group} {quote(info.name)}"


def _format_causes(info: Info, error: Invalid) -> list[str]:
    causes = (error.details or {}).get("causes") or ()
    lines = [f"* {cause.get('field', '')}: {cause.get('message', '')}" for cause in causes]
    return [f"{_format_name(info)} was not valid:", *lines]
