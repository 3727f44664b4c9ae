"""Files that actions export to the agent's host, where its commands can read them too.

The agent may have removed or replaced files, or filled the disk. Errors of the filesystem are reported to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from aiopslab.orchestrator.actions.environment_actions import ActionFailed, ActionsBase, make_unknown_error
from aiopslab.orchestrator.actions.observations import cut_line
from aiopslab.orchestrator.actions.registry import find_similar
from simcloud.machine.files import FileError

READ_BYTES: Final = 8 << 20
"""Maximum size of one file that is read, which also limits reading an endless device."""


class ExportActions(ActionsBase):
    """Base class of actions that export files."""

    def _make_path(self, kind: str, namespace: str) -> str:
        """Return the path of a new export."""
        moment = datetime.fromtimestamp(self._get_now_s(), UTC)
        return f"{self.terminal.home}/{kind}/{namespace}-{moment:%Y%m%d-%H%M%S}"

    def _write(self, path: str, lines: Iterable[str]) -> None:
        try:
            self.terminal.write_file(path, "".join(lines).encode("utf-8", "replace"))
        except FileError as error:
            raise ActionFailed(
                f"{path} cannot be written on your host: {error}. Free space or remove conflicting files with exec_shell."
            ) from None

    def _read(self, path: str, export: str) -> str:
        """Return a file's text; ``export`` is the action that creates such files."""
        absolute = path if path.startswith("/") else f"{self.terminal.home}/{path}"
        try:
            names = self.terminal.list_folder(absolute)
            if names is not None:
                inside = [name for name in names if name not in (".", "..")]
                raise make_unknown_error("file", path, inside, "This is a folder: name one of its files.")
            return self.terminal.read_file(absolute, READ_BYTES).decode("utf-8", "replace")
        except FileError as error:
            raise self._make_read_error(absolute, error, export) from None

    def _make_read_error(self, path: str, error: FileError, export: str) -> ActionFailed:
        folder, _, name = path.rpartition("/")
        try:
            names = self.terminal.list_folder(folder or "/") or []
            files = [file for file in names if not file.startswith(".")]
            similar = [f"{folder}/{file}" for file in find_similar(name, files)]
        except FileError:
            similar = []
        suggestion = f" Did you mean {' or '.join(similar)}?" if similar else ""
        return ActionFailed(
            f"{cut_line(path, 200)} cannot be read: {error}.{suggestion} {export}(namespace) exports files and returns "
            "their path."
        )
