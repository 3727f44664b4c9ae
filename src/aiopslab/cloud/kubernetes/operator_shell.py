"""The operators' shell for a real cluster: the embedded bash with a few tools, and the kubectl of this host.

Faults, noise and audits are typed here. The agent cannot reach it, because it is not in the cluster. Lines mean the same on
every host, whatever shell and tools it has, and of its programs they can start only kubectl.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryFile, mkdtemp
from typing import Final

from aiopslab.cloud.kubernetes.kubeconfig import Access, NoAccess
from simcloud.machine import Image
from simcloud.machine.process import Completed, Context, read_all
from simcloud.userland.commands import all_commands
from simcloud.world import TypedLine, World

TOOLS: Final = (
    "awk", "base64", "bash", "cat", "cut", "date", "grep", "head", "jq", "sed", "seq", "sh", "sleep", "sort", "tail", "tee",
    "tr", "uniq", "wc", "xargs",
)  # fmt: skip
KUBECTL: Final = "AIOPSLAB_KUBECTL"
"""The environment variable with the path of kubectl, if it is not on the PATH."""
POLL_S: Final = 0.01
OUTPUT_BYTES: Final = 64 * 1024 * 1024
INTERACTIVE: Final = ("-i", "-it", "-ti", "--stdin", "--stdin=true")


class OperatorShell:
    """Runs lines in a bash of its own, whose clock is that of this host."""

    def __init__(self, access: Access) -> None:
        """Raises ``NoAccess`` if there is no kubectl."""
        kubectl = os.environ.get(KUBECTL) or shutil.which("kubectl")
        if not kubectl:
            raise NoAccess(
                f"kubectl is needed on this host to work on a real cluster. Install it, or set {KUBECTL}."
            )
        self._kubectl = str(Path(kubectl).resolve())
        self._home = Path(mkdtemp(prefix="aiopslab-operator-"))
        config = self._home / "kubeconfig"
        config.touch(0o600)
        config.write_text(access.kubeconfig)
        self._env = {"HOME": str(self._home), "KUBECONFIG": str(config), "LANG": "C.UTF-8", "TZ": "UTC"}
        self._running: set[subprocess.Popen[bytes]] = set()
        commands = all_commands()
        image = Image("operators", {name: commands[name] for name in TOOLS} | {"kubectl": self._run_kubectl})
        self._world = World(epoch_s=time.time(), telemetry=False)
        self._host = self._world.add_machine("operators", image=image).host
        self._began_s = time.monotonic()

    def run(self, line: str, timeout_s: float, stdin: str = "") -> Completed:
        """Run a line; after ``timeout_s`` seconds of this host it is killed, with status 124."""
        typed = TypedLine(self._world, self._host, None, line, OUTPUT_BYTES, stdin.encode())
        deadline_s = time.monotonic() + timeout_s
        while True:
            self.advance()
            if typed.has_ended:
                return typed.get_result()
            if time.monotonic() >= deadline_s:
                typed.kill()
                return typed.get_result(timeout_s)
            time.sleep(POLL_S)

    def advance(self) -> None:
        """Let what runs in the background go on."""
        self._world.kernel.run_until(time.monotonic() - self._began_s)

    async def _run_kubectl(self, ctx: Context) -> int:
        """Run the kubectl of this host, without keeping other programs of the shell waiting."""
        arguments = ctx.args[1:]
        with TemporaryFile() as stdin, TemporaryFile() as stdout, TemporaryFile() as stderr:
            if reads_input(arguments):
                stdin.write(await read_all(ctx.stdin))
                stdin.seek(0)
            command = [self._kubectl, *arguments]
            process = subprocess.Popen(
                command, env=self._env, cwd=self._home, stdin=stdin, stdout=stdout, stderr=stderr
            )
            self._running.add(process)
            try:
                while process.poll() is None:
                    await ctx.sleep(POLL_S)
            finally:
                self._end(process)
            for printed, stream in ((stdout, ctx.stdout), (stderr, ctx.stderr)):
                printed.seek(0)
                await stream.write(printed.read())
        return process.returncode

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        self._running.discard(process)
        process.kill()
        process.wait()

    def close(self) -> None:
        """End what still runs, and remove its files."""
        for process in list(self._running):
            self._end(process)
        shutil.rmtree(self._home, ignore_errors=True)


def reads_input(arguments: list[str]) -> bool:
    """Whether kubectl reads its standard input: another command of the line may need it otherwise."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return any(each == "-" or each.endswith("=-") or each in INTERACTIVE for each in options)
