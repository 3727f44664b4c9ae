"""The session of a served problem: its task reveals nothing, and only answers of the right form end it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from aiopslab.cli.cluster_session import ServedSession
from aiopslab.orchestrator import PreparedProblem
from simcloud.world.copies import Copy

PROBLEM = "revoke_auth_mongodb-detection-1"


@pytest.fixture(scope="module")
def world(copy_problem: Callable[[str], Copy[PreparedProblem]]) -> Copy[PreparedProblem]:
    return copy_problem(PROBLEM)


def request_all(problem: PreparedProblem, results: Path, *requests: tuple[str, str]) -> list[tuple[int, Any]]:
    """Send requests, each a method and a body, to the session of a problem; return statuses and texts."""
    session = ServedSession(problem, results, Path("lab.kubeconfig"))
    token = {"Authorization": f"Bearer {session.token}"}

    async def work() -> list[tuple[int, Any]]:
        transport = httpx2.ASGITransport(app=session)
        async with httpx2.AsyncClient(transport=transport, base_url="http://lab") as client:
            answers = [await client.get("/")]
            for method, body in requests:
                answers.append(await client.request(method, "/", content=body, headers=token))
        return [(answer.status_code, answer.text) for answer in answers]

    return asyncio.run(work())


def test_only_an_answer_of_the_right_form_ends_it(world: Copy[PreparedProblem], tmp_path: Path) -> None:
    with world.branch() as copy:
        requests = (("GET", ""), ("POST", "perhaps"), ("POST", "Yes"), ("POST", "No"))
        refused, task, wrong, right, late = copy.call(request_all, tmp_path, *requests)
    assert refused[0] == 401
    assert task[0] == 200
    assert task[1].endswith("with --kubeconfig lab.kubeconfig: aiopslab submit Yes, or aiopslab submit No")
    assert "revoke" not in task[1]
    assert (wrong[0], "Yes" in wrong[1]) == (422, True)
    assert (right[0], '"success":true' in right[1]) == (200, True)
    assert late[0] == 409
    assert len(list(tmp_path.glob("*.json"))) == 1
