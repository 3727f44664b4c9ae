"""Files that actions leave on the agent's own host, where its commands find them, and reading them back.

The host is the agent's: it may have removed, replaced or filled what was there. Whatever the filesystem answers is told.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from aiopslab.orchestrator.actions.base import ActionFailed, ActionsBase, unknown
from aiopslab.orchestrator.actions.bounds import cut_line
from aiopslab.orchestrator.actions.registry import nearest
from simcloud.machine.files import FileError, Files

READ_BYTES: Final = 8 << 20
"""Of one file; also what ends the reading of a device that never ends."""


class ExportActions(ActionsBase):
    """The ground of actions that export."""

    @property
    def _files(self) -> Files:
        return self.terminal.machine.host.files

    def _place(self, kind: str, namespace: str) -> str:
        """A path of its own for one export."""
        moment = datetime.fromtimestamp(self._now_s(), UTC)
        return f"{self.terminal.home}/{kind}/{namespace}-{moment:%Y%m%d-%H%M%S}"

    def _write(self, path: str, lines: Iterable[str]) -> None:
        try:
            self._files.put(path, "".join(lines).encode("utf-8", "replace"))
        except FileError as error:
            raise ActionFailed(
                f"{path} cannot be written on your host: {error}. Make room or remove what is in the way with exec_shell."
            ) from None

    def _read(self, path: str, export: str) -> str:
        """A file's text; ``export`` is the action that makes such files."""
        absolute = path if path.startswith("/") else f"{self.terminal.home}/{path}"
        try:
            if self._files.is_dir(absolute):
                inside = [name for name in self._files.listdir(absolute) if name not in (".", "..")]
                raise unknown("file", path, inside, "This is a folder: name one of its files.")
            file = self._files.open(absolute)
            try:
                return file.read(READ_BYTES).decode("utf-8", "replace")
            finally:
                file.close()
        except FileError as error:
            raise self._not_read(absolute, error, export) from None

    def _not_read(self, path: str, error: FileError, export: str) -> ActionFailed:
        folder, _, name = path.rpartition("/")
        try:
            near = nearest(
                name, [one for one in self._files.listdir(folder or "/") if not one.startswith(".")]
            )
        except FileError:
            near = []
        meant = f" Did you mean {' or '.join(f'{folder}/{one}' for one in near)}?" if near else ""
        return ActionFailed(
            f"{cut_line(path, 200)} cannot be read: {error}.{meant} {export}(namespace) exports, and says where to."
        )
