"""The printer for a command's ``-o`` and ``--template``, or its short message."""

from __future__ import annotations

from enum import StrEnum

from simcloud.kubectl.errors import KubectlError, PrintError
from simcloud.kubectl.printing.lists import name_form
from simcloud.kubectl.printing.output import GET_FORMATS, OBJECT_FORMATS, Printer, Settings, choose
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import Object, Resource
from simcloud.machine.files import FileError


def printer_of(
    kubectl: Kubectl, formats: tuple[str, ...] = GET_FORMATS, done: str = "", *, keep_order: bool = False
) -> Printer | None:
    """The printer; None where ``-o`` asks for none of the machine-readable forms.

    ``keep_order`` is for objects in the order of Go's structs, as kubectl has them where it knows their kind.
    """
    flags = kubectl.flags

    def read_file(path: str) -> str:
        try:
            return kubectl.ctx.files.read(path).decode(errors="replace")
        except FileError as error:
            raise OSError(0, error.strerror) from None

    settings = Settings(
        template=flags.get("template", ""),
        allow_missing_keys=bool(flags.get("allow-missing-template-keys", True)),
        no_headers=bool(flags.get("no-headers", False)),
        show_managed_fields=bool(flags.get("show-managed-fields", False)),
        done=done,
        keep_order=keep_order,
    )
    try:
        return choose(flags.get("output", ""), read_file, settings, formats)
    except PrintError as error:
        raise KubectlError(str(error)) from None


class DryRun(StrEnum):
    """How far a change goes: all the way, to the server and not into its store, or not even there."""

    NONE = "none"
    CLIENT = "client"
    SERVER = "server"


def dry_run(kubectl: Kubectl) -> DryRun:
    """What ``--dry-run`` says."""
    said = kubectl.flags.get("dry-run", "none")
    if said == "unchanged":  # the flag alone, as it was before it took values
        return DryRun.CLIENT
    try:
        return DryRun(said)
    except ValueError:
        why = f'Invalid dry-run value ({said}). Must be "none", "server", or "client".'
        raise KubectlError(why) from None


class Teller:
    """Tells what a verb has done to objects: ``deployment.apps/web scaled``, or the object as ``-o`` asks."""

    def __init__(
        self,
        kubectl: Kubectl,
        done: str,
        *,
        trying: bool = True,
        late: bool = False,
        keep_order: bool = False,
    ) -> None:
        """``trying``: whether ``--dry-run`` is mentioned. ``late``: a wrong ``-o`` is only noticed after the write."""
        self._kubectl = kubectl
        self._tried = dry_run(kubectl) if trying else DryRun.NONE
        suffix = {DryRun.NONE: "", DryRun.CLIENT: " (dry run)", DryRun.SERVER: " (server dry run)"}
        self._suffix = suffix[self._tried]
        self._done = done
        self._keep_order = keep_order
        self._printer: Printer | None = None
        self._chosen = False
        if not late:
            self._choose()

    def _choose(self) -> None:
        self._printer = printer_of(self._kubectl, OBJECT_FORMATS, keep_order=self._keep_order)
        self._chosen = True

    async def tell(self, resource: Resource, obj: Object, done: str = "") -> None:
        """Print one object's line, or the object."""
        if not self._chosen:
            self._choose()
        if self._printer is not None:
            await self._kubectl.out(self._printer.print(obj))
            return
        await self._kubectl.out(f"{name_form(obj)} {done or self._done}{self._suffix}\n")
