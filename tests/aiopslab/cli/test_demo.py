"""The demonstration: the same story every time, and a true one."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.aiopslab.cli.command_line import ROOT, aiopslab


@cache
def story(hash_seed: str = "0") -> str:
    done = aiopslab("demo", "--seed", "7", PYTHONHASHSEED=hash_seed)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_one_seed_one_story() -> None:
    assert story("0") == story("42")


def test_the_readme_shows_what_it_prints() -> None:
    """Line by line and in this order; "..." stands for what is left out."""
    readme = (ROOT / "README.md").read_text()
    excerpt = re.split(
        r"^```\n", readme.partition("(`aiopslab demo`, seed 7)")[2], maxsplit=2, flags=re.MULTILINE
    )[1]
    shown = iter(line.rstrip() for line in story().splitlines())
    missing = [line for line in excerpt.splitlines() if line.strip() not in ("", "...") and line not in shown]
    assert not missing


def test_a_newcomer_is_told_what_is_simulated_and_what_is_scripted() -> None:
    assert "You are on call for social-network" in story()
    assert "This engineer follows a script" in story()
    assert re.search(r"compose-post-service .* \d+\.\d\d", story())


def test_the_engineer_follows_what_it_sees_to_the_cause() -> None:
    seen = [
        "kubectl get pods -n test-social-network",
        "Connection refused",
        "Connections to user-service on port 9090 are refused.",
        re.compile(r"TargetPort: +9999/TCP"),
        "The process listens on 9090, but the Service forwards to 9999",
        "service/user-service patched",
        "None. The root cause is gone and users are served again.",
        "> submit()",
    ]
    place = 0
    for wanted in seen:
        found = re.compile(wanted if isinstance(wanted, re.Pattern) else re.escape(wanted)).search(
            story(), place
        )
        assert found, wanted
        place = found.end()


def test_the_evaluation_says_that_it_is_repaired() -> None:
    judged = story().split("The result")[1]
    assert re.search(r"success +yes", judged)
    assert "ok  the root cause is gone" in judged
    assert "NOT" not in judged


def test_nothing_in_it_is_of_the_hosts_clock() -> None:
    assert "wall clock" not in story()
