"""A problem as a task folder of Harbor: a container in which the command ``incident`` performs the actions.

The image has this package, as it is installed here, and runs ``harbor_session``. The agent is a user without rights to the problem's id, to
the answers given so far and to the judge; it can read the package, which is public. The folder needs nothing of Harbor to be
written.
"""

from __future__ import annotations

import gzip
import io
import json
import shlex
import tarfile
from collections.abc import Sequence
from importlib.metadata import requires
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Final

from aiopslab.adapters.harbor_session import FOLDER
from aiopslab.orchestrator import EXEC_SHELL, PACKAGE, SUBMIT, PreparedProblem
from aiopslab.orchestrator.tasks import MitigationTask
from aiopslab.orchestrator.validation import CannotBeTyped, type_reference_repair, write_right_answer

REPAIR_TIMEOUT_S: Final = 600
TASK: Final = Template("""\
schema_version = "1.1"

[task]
name = "aiopslab/$name"
description = "An incident in a simulated cluster: $kind"
keywords = ["aiops", "kubernetes", "$kind"]

[metadata]
category = "operations"
problem = "$problem"
seed = $seed

[agent]
timeout_sec = 3600.0
user = "agent"

[verifier]
timeout_sec = 600.0
user = "root"

[environment]
build_timeout_sec = 900.0
cpus = 1
memory_mb = 2048
storage_mb = 4096
""")
DOCKERFILE: Final = Template("""\
FROM python:3.11-slim-bookworm
RUN apt-get update && apt-get install --yes --no-install-recommends sudo && rm -rf /var/lib/apt/lists/*
RUN pip install --no-cache-dir $requirements
ADD package.tar.gz /opt/aiopslab
COPY incident /usr/local/sbin/incident
COPY --chmod=600 incident.json $folder/incident.json
RUN chmod 755 /usr/local/sbin/incident && chmod 700 $folder && useradd --create-home agent \\
 && printf '#!/bin/sh\\nexec sudo -n /usr/local/sbin/incident "$$@"\\n' > /usr/local/bin/incident && chmod 755 /usr/local/bin/incident \\
 && echo 'agent ALL=(root) NOPASSWD: /usr/local/sbin/incident' > /etc/sudoers.d/incident
WORKDIR /home/agent
""")
# Both run as root: no module may come from a folder of the agent.
INCIDENT: Final = """\
#!/bin/sh
cd / && PYTHONPATH=/opt/aiopslab exec python3 -P -m aiopslab.adapters.harbor_session act "$@"
"""
TEST: Final = """\
#!/bin/sh
mkdir -p /logs/verifier
cd / && PYTHONPATH=/opt/aiopslab python3 -P -m aiopslab.adapters.harbor_session judge > /logs/verifier/reward.txt
"""
INSTRUCTION: Final = Template("""\
$description

$instructions

You act by the command `incident`: its argument is one call, and it prints what the call returns. Nothing else in this container
concerns the incident. An example:

    incident 'exec_shell("kubectl get pods -A")'

Every call takes some seconds. These are the actions:

$actions
""")


def write_task(folder: Path, problem: PreparedProblem, seed: int, max_steps: int) -> list[str]:
    """Write a prepared problem as a task; return the names of the files. The solution is left out if it cannot be typed.

    The problem cannot be used for a session afterwards. Raises ``OSError``.
    """
    prompt, task = problem.prompt, problem.task
    names = {
        "name": task.id.lower().replace("@", "-"),
        "problem": task.id,
        "kind": task.task_type,
        "seed": seed,
    }
    needed = [line for line in requires(PACKAGE) or () if "extra ==" not in line]
    texts = {
        "task.toml": TASK.substitute(names),
        "instruction.md": INSTRUCTION.substitute(
            description=prompt.description,
            instructions=prompt.instructions,
            actions="\n\n".join(
                f"    {text.replace(chr(10), chr(10) + '    ')}" for text in prompt.actions.values()
            ),
        ),
        "environment/Dockerfile": DOCKERFILE.substitute(requirements=shlex.join(needed), folder=FOLDER),
        "environment/incident": INCIDENT,
        "environment/incident.json": json.dumps({"problem": task.id, "seed": seed, "max_steps": max_steps}),
        "tests/test.sh": TEST,
    }
    try:
        texts["solution/solve.sh"] = _write_solution(problem)
    except CannotBeTyped:
        pass  # only hardware that is replaced would repair it
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if text.startswith("#!") else 0o644)
    (folder / "environment" / "package.tar.gz").write_bytes(_pack_packages())
    return sorted([*texts, "environment/package.tar.gz"])


def _write_solution(problem: PreparedProblem) -> str:
    """Return a script that repairs or answers as the reference does; raises ``CannotBeTyped``."""
    answers: list[str] = []
    if isinstance(problem.task, MitigationTask):
        answers += [
            _format_answer(EXEC_SHELL, command=line, timeout=REPAIR_TIMEOUT_S)
            for line in type_reference_repair(problem)
        ]
    answer = write_right_answer(problem.task)
    answers.append(f"{SUBMIT}({', '.join(map(repr, answer))})")
    return "#!/bin/sh\n" + "".join(f"incident {shlex.quote(text)}\n" for text in answers)


def _format_answer(name: str, **arguments: object) -> str:
    return json.dumps({"name": name, "arguments": arguments})


def _pack_packages(names: Sequence[str] = ("aiopslab", "simcloud")) -> bytes:
    """Return the source of the packages as an archive, always the same bytes."""
    data = io.BytesIO()
    with (
        gzip.GzipFile("", "wb", fileobj=data, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for name in names:
            root = Path(str(files(name)))
            for path in sorted(root.rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    info = tarfile.TarInfo(f"{name}/{path.relative_to(root)}")
                    content = path.read_bytes()
                    info.size = len(content)
                    archive.addfile(info, io.BytesIO(content))
    return data.getvalue()
