"""Whatever a stranger calls with, every action answers with a bounded sentence and never fails inside."""

from __future__ import annotations

from typing import Any

from aiopslab.cloud.environment import Environment
from aiopslab.utils.status import InvalidActionError
from simcloud.world.copies import Copy
from tests.aiopslab.orchestrator.actions.sessions import HOTEL, session

NASTY: tuple[Any, ...] = (
    "", " ", "/", "//", "pods/", "/geo", "..", "../../../../etc/passwd", "\0", "\n", "\ud800", "é" * 50, "x" * 200_000,
    "[" * 3000, "{" * 3000, "(a+)+$", "geo;reboot", "-1", "1e999", "nan", "0x10", '"', "'", "%s%n", "{}", "~", "/dev/zero",
    "/proc/self/status", "/root", 0, -1, 10**30, 1e-9, float("inf"), float("nan"), True, None, [], [[]], {}, {"a": 1}, b"x",
)  # fmt: skip


def attempts(environment: Environment) -> list[str]:
    """What went wrong when each argument of each action was each of these."""
    actions = session(environment)
    wrong = []
    for name, action in actions.actions.items():
        for one in action.parameters:
            for nasty in NASTY:
                given = {
                    "namespace": HOTEL,
                    "service": "geo",
                    "command": "true",
                    "file_path": "/x",
                    "promql": "up",
                }
                kwargs = {key: given[key] for key in action.schema["required"]} | {one.name: nasty}
                try:
                    told = actions.perform(name, (), kwargs)
                except InvalidActionError as error:
                    told = str(error)
                    if len(told) > 1000:
                        wrong.append(f"{name} {one.name}={nasty!r:.40}: an error of {len(told)} characters")
                if "Internal error" in told or "Traceback" in told or "/tmp/" in told.replace("/tmp/out", ""):
                    wrong.append(f"{name} {one.name}={nasty!r:.40}: {told[:200]}")
                if len(told.encode()) > 45_000:
                    wrong.append(f"{name} {one.name}={nasty!r:.40}: {len(told)} characters")
    return wrong


def test_no_argument_breaks_an_action(hotels: Copy[Environment]) -> None:
    with hotels.branch() as episode:
        assert episode.call(attempts) == []
