"""The operators' shell for a real cluster: a line runs on this host, with kubectl and a few tools, and nothing else.

Faults, noise and audits are typed here. The agent cannot reach it, because it is not in the cluster. ``PATH`` has only the
listed tools, so that no line meant for a simulated host can start another program of this one.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from aiopslab.cloud.kubernetes.kubeconfig import Access, NoAccess
from simcloud.machine.process import Completed
from simcloud.world import TIMED_OUT

TOOLS: Final = (
    "awk", "base64", "bash", "cat", "cut", "date", "echo", "false", "grep", "head", "jq", "printf", "sed", "seq", "sh", "sleep",
    "sort", "tail", "tee", "test", "tr", "true", "uniq", "wc", "xargs",
)  # fmt: skip
KUBECTL: Final = "AIOPSLAB_KUBECTL"
"""The environment variable with the path of kubectl, if it is not on the PATH."""


class OperatorShell:
    """Runs lines in bash on this host, with a kubeconfig and a home folder of its own."""

    def __init__(self, access: Access) -> None:
        """Raises ``NoAccess`` if there is no kubectl."""
        kubectl = os.environ.get(KUBECTL) or shutil.which("kubectl")
        if not kubectl:
            raise NoAccess(
                f"kubectl is needed on this host to work on a real cluster. Install it, or set {KUBECTL}."
            )
        self._home = Path(mkdtemp(prefix="aiopslab-operator-"))
        programs = self._home / "bin"
        programs.mkdir()
        for name in TOOLS:
            if found := shutil.which(name):
                (programs / name).symlink_to(found)
        (programs / "kubectl").symlink_to(Path(kubectl).resolve())
        config = self._home / "kubeconfig"
        config.touch(0o600)
        config.write_text(access.kubeconfig)
        self._env = {
            "PATH": str(programs),
            "HOME": str(self._home),
            "KUBECONFIG": str(config),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
        }

    def run(self, line: str, timeout_s: float, stdin: str = "") -> Completed:
        """Run a line; after ``timeout_s`` seconds of this host it is killed, with status 124."""
        process = subprocess.Popen(
            [str(self._home / "bin" / "bash"), "-c", line],
            env=self._env,
            cwd=self._home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            stdout, stderr = process.communicate(stdin.encode(), timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            stdout, stderr = process.communicate()
            return Completed(TIMED_OUT, stdout, stderr)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        return Completed(process.returncode, stdout, stderr)

    def close(self) -> None:
        """Remove its files."""
        shutil.rmtree(self._home, ignore_errors=True)
