"""Ask the API server whether it would accept every manifest of the applications and of telemetry servers, and what it warns about."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import yaml

from aiopslab.apps import load_applications
from aiopslab.cloud.kubernetes.telemetry_servers import INSTALLED, list_server_objects

TEMPLATE = files("aiopslab.cli") / "templates" / "example_app" / "manifests" / "example-app.yaml"
"""What ``aiopslab new app`` starts from."""
ACCEPTED = (" created (server dry run)", " configured (server dry run)", " unchanged (server dry run)")


def check_manifests(command: Callable[..., list[str | Path]]) -> list[str]:
    """Apply all manifests as dry runs with the kubectl that ``command`` completes; return all errors and warnings."""
    complaints = []
    for app in load_applications().values():
        text = (
            render_chart(app.name, app.namespace)
            if app().chart_files
            else "\n---\n".join(app().manifest_files.values())
        )
        complaints += _check(command, app.name, app.namespace, text)
    servers = yaml.safe_dump_all(list_server_objects(INSTALLED))
    complaints += _check(command, "telemetry servers", "monitoring", servers)
    return [*complaints, *_check(command, "example-app", "example-app", TEMPLATE.read_text())]


def render_chart(name: str, namespace: str) -> str:
    """Return the objects of an application's chart as the embedded cluster has installed it."""
    line = f"helm --namespace {namespace} get manifest {name}"
    program = [
        sys.executable,
        "-c",
        "from aiopslab.cli import main; main()",
        "shell",
        "--app",
        name,
        "-c",
        line,
    ]
    return subprocess.run(program, check=True, stdout=subprocess.PIPE, text=True).stdout


def _check(command: Callable[..., list[str | Path]], name: str, namespace: str, text: str) -> list[str]:
    """Dry-run one application. Its namespace must exist for that, and is removed again if it did not."""
    made = subprocess.run(
        command("create", "namespace", namespace, "--save-config"), check=False, capture_output=True
    )
    try:
        arguments = ("apply", "--namespace", namespace, "--dry-run=server", "-f", "-")
        done = subprocess.run(command(*arguments), check=False, capture_output=True, text=True, input=text)
    finally:
        if made.returncode == 0:
            subprocess.run(command("delete", "namespace", namespace), check=True, capture_output=True)
    lines = done.stdout.splitlines()
    accepted = [line for line in lines if line.endswith(ACCEPTED)]
    print(f"{name}: {len(accepted)} objects accepted", flush=True)
    return [f"{name}: {line}" for line in (*lines, *done.stderr.splitlines()) if line not in accepted]
