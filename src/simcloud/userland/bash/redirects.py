"""Redirections of the shell's and its commands' streams.

The shell's descriptor table is that of its process. Redirections of one command are applied before the command and
undone after it; ``exec`` keeps them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NoReturn

from simcloud.machine.files import FileError
from simcloud.machine.network import NameNotFound, NetworkError, ResolverFailure
from simcloud.machine.process import Stream
from simcloud.userland.bash.streams import ClosedStream, HereText
from simcloud.userland.bash.syntax import Redirect
from simcloud.userland.bash.variable import VariableError

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Saved, Shell

_NETWORK = re.compile(r"/dev/(tcp|udp)/([^/]+)/(\d+)\Z")
_MODES: Final[dict[str, dict[str, bool]]] = {
    "<": {"read": True},
    "<>": {"read": True, "write": True, "create": True},
    ">": {"read": False, "write": True, "create": True, "truncate": True},
    ">|": {"read": False, "write": True, "create": True, "truncate": True},
    "&>": {"read": False, "write": True, "create": True, "truncate": True},
    ">>": {"read": False, "write": True, "create": True, "append": True},
    "&>>": {"read": False, "write": True, "create": True, "append": True},
}
LOWEST_FREE: Final = 10
"""Descriptors for ``{name}>`` are taken from here on."""


class RedirectionFailed(Exception):
    """A redirection failed, and the error has been reported."""


class Redirections:
    """Applies and undoes redirections for one shell."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell

    @property
    def streams(self) -> dict[int, Stream]:
        """The process's open descriptors."""
        return self.shell.ctx.process.streams

    async def apply(self, redirects: list[Redirect]) -> Saved:
        """Make redirections from left to right; on failure they are undone and ``RedirectionFailed`` raised."""
        saved: Saved = []
        try:
            for redirect in redirects:
                await self._one(redirect, saved)
        except BaseException:
            self.restore(saved)
            raise
        return saved

    def restore(self, saved: Saved) -> None:
        """Put back what was there before."""
        streams = self.streams
        for number, stream in reversed(saved):
            current = streams.pop(number, None)
            if current is not None:
                current.close()
            if stream is not None:
                streams[number] = stream

    def keep(self, saved: Saved) -> None:
        """Make redirections permanent: close what they replaced."""
        for _, stream in saved:
            if stream is not None:
                stream.close()

    async def single_target(self, redirect: Redirect) -> str | None:
        """The one word a target must expand to; anything else is ambiguous and is reported."""
        fields = await self.shell.expander.words([redirect.target])
        if len(fields) == 1:
            return fields[0]
        await self.shell.complain(f"{redirect.target.text}: ambiguous redirect")
        return None

    async def _one(self, redirect: Redirect, saved: Saved) -> None:
        operator = redirect.operator
        if redirect.variable:
            await self._to_variable(redirect, saved)
            return
        default = 0 if operator[0] == "<" else 1
        number = redirect.fd if redirect.fd is not None else default
        if operator in ("<<", "<<-"):
            assert redirect.here_text is not None
            text = await self.shell.expander.string(redirect.here_text)
            self._install(number, HereText(text.encode("utf-8", "surrogateescape")), saved)
        elif operator == "<<<":
            text = await self.shell.expander.string(redirect.target) + "\n"
            self._install(number, HereText(text.encode("utf-8", "surrogateescape")), saved)
        elif operator in ("<&", ">&"):
            await self._duplicate(redirect, number, saved)
        else:
            stream = await self._open(redirect)
            self._install(number, stream, saved)
            if operator in ("&>", "&>>"):
                self._install(2, stream.dup(), saved)

    def _install(self, number: int, stream: Stream | None, saved: Saved) -> None:
        saved.append((number, self.streams.pop(number, None)))
        if stream is not None:
            self.streams[number] = stream
        elif number <= 2:
            self.streams[number] = ClosedStream(number)

    async def _duplicate(self, redirect: Redirect, number: int, saved: Saved) -> None:
        target = await self.single_target(redirect)
        if target is None:
            raise RedirectionFailed
        if target == "-":
            self._install(number, None, saved)
            return
        moved = target.endswith("-") and target[:-1].isdigit()
        digits = target[:-1] if moved else target
        if not digits.isdigit():
            if redirect.operator == ">&" and redirect.fd is None:
                stream = await self._open_path(target, ">")
                self._install(1, stream, saved)
                self._install(2, stream.dup(), saved)
                return
            await self._fail(f"{redirect.target.text}: ambiguous redirect")
        source = self.streams.get(int(digits[:9]))
        if source is None or isinstance(source, ClosedStream):
            await self._fail(f"{digits}: Bad file descriptor")
        self._install(number, source.dup(), saved)
        if moved and int(digits) != number:
            self._install(int(digits), None, saved)

    async def _to_variable(self, redirect: Redirect, saved: Saved) -> None:
        """``{name}>file``: a fresh descriptor that stays open; ``{name}>&-`` closes it."""
        name, state = redirect.variable, self.shell.state
        if redirect.operator in ("<&", ">&") and redirect.target.text == "-":
            base, bracket, rest = name.partition("[")
            value = (state.read_number(base, rest.removesuffix("]")) if bracket else state.get(name)) or ""
            stream = self.streams.pop(int(value), None) if value.isdigit() else None
            if stream is None:
                await self._fail(f"{name}: Bad file descriptor")
            else:
                stream.close()
            return
        temporary: Saved = []
        number = LOWEST_FREE
        while number in self.streams:
            number += 1
        plain = Redirect(
            redirect.operator, redirect.target, number, "", redirect.here_text, redirect.delimiter
        )
        await self._one(plain, temporary)
        try:
            state.assign(name, str(number))
        except VariableError as error:
            self.restore(temporary)
            await self.shell.complain(str(error))
            await self._fail(f"{name}: cannot assign fd to variable")

    async def _open(self, redirect: Redirect) -> Stream:
        path = await self.single_target(redirect)
        if path is None:
            raise RedirectionFailed
        return await self._open_path(path, redirect.operator)

    async def _open_path(self, path: str, operator: str) -> Stream:
        shell = self.shell
        network = _NETWORK.match(path)
        if network:
            return await self._dial(path, network[2], int(network[3]))
        if operator in (">", "&>") and shell.state.options.get("noclobber") and shell.ctx.files.is_file(path):
            await self._fail(f"{path}: cannot overwrite existing file")
        try:
            return await shell.ctx.open(path, **_MODES[operator])
        except FileError as error:
            await self._fail(f"{path}: {error.strerror}")

    async def _dial(self, path: str, host: str, port: int) -> Stream:
        from simcloud.userland.bash.streams import SocketStream

        try:
            connection = await self.shell.ctx.dial(host, port, "tcp")
        except (NameNotFound, ResolverFailure) as error:
            await self._unreachable(f"{host}: {error}", f"{path}: Invalid argument")
        except NetworkError as error:
            await self._unreachable(f"connect: {error}", f"{path}: {error}")
        return SocketStream(connection)

    async def _unreachable(self, *messages: str) -> NoReturn:
        """Bash names no line when a connection fails."""
        for message in messages:
            await self.shell.err(f"{self.shell.error_name}: {message}\n")
        raise RedirectionFailed

    async def _fail(self, message: str) -> NoReturn:
        await self.shell.complain(message)
        raise RedirectionFailed
