"""JavaScript without a database: an engine in a process of its own."""

from __future__ import annotations

from simcloud.datastores.mongodb import bson
from simcloud.datastores.mongodb.shell import types
from simcloud.datastores.mongodb.shell.inspect import inspect
from simcloud.datastores.mongodb.shell.javascript import (
    V8,
    Engine,
    ErrorMessages,
    Source,
    SpiderMonkey,
    SyntaxFailure,
    Thrown,
    install,
    parse,
    run_script,
)
from simcloud.datastores.mongodb.shell.javascript.conversions import text
from simcloud.machine.computer import Machine
from simcloud.machine.emit import MemoryEmitter
from simcloud.machine.image import Image
from simcloud.machine.network import Network
from simcloud.machine.process import Context
from simcloud.machine.process.limits import Limits
from simcloud.machine.process.streams import Capture
from simcloud.sim import Kernel
from simcloud.userland.awk.flat import run_flat

__all__ = ["V8", "Scripts", "SpiderMonkey"]


class Scripts:
    """Runs scripts and says what became of them."""

    def __init__(self, messages: ErrorMessages | None = None, limits: Limits | None = None) -> None:
        self.kernel = Kernel(1)
        self.messages = messages or V8()
        machine = Machine(
            self.kernel, Network(self.kernel), "host", "10.0.0.1", Image("bare", {}), emitter=MemoryEmitter()
        )
        self.container = machine.create_container(
            "store", Image("bare", {}), address="10.1.0.1", limits=limits or Limits()
        )
        self.status = 0

    def run(self, *scripts: str) -> list[str]:
        """What each script's value prints as, or its error; one engine for all."""
        found: list[str] = []

        async def program(ctx: Context) -> int:
            engine = Engine(ctx, self.messages)
            install(engine)
            types.install(engine, bson.ObjectIds(ctx.random("ids")))
            for script in scripts:
                found.append(await self._one(engine, script))
            return 0

        streams = {1: Capture(), 2: Capture()}
        process = self.container.start(["script"], program=program, streams=streams)
        self.status = self.kernel.run_task(self.kernel.spawn(process.wait(), "script"))
        return found

    async def _one(self, engine: Engine, script: str) -> str:
        try:
            value = await run_script(engine, parse(Source(script, "(shell)"), self.messages))
            shown = None if type(value) is str else inspect(engine, value)
        except SyntaxFailure as failure:
            return f"SyntaxError: {failure}"
        except Thrown as thrown:
            value, shown = thrown.value, text(engine, thrown.value)
        engine.enter("", Source("", "(test)"), 0)
        try:
            return value if shown is None else str(await run_flat(shown))
        finally:
            engine.frames.pop()

    def one(self, script: str) -> str:
        """What one script's value prints as."""
        return self.run(script)[0]
