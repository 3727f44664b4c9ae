"""The demonstration: the same story every time, and a true one."""

from __future__ import annotations

import re
from functools import cache

from tests.cli.test_cli import aiopslab


@cache
def story(hash_seed: str = "0") -> str:
    done = aiopslab("demo", "--seed", "3", PYTHONHASHSEED=hash_seed)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_one_seed_one_story() -> None:
    assert story("0") == story("42")


def test_another_seed_another_story() -> None:
    done = aiopslab("demo", "--seed", "4")
    assert done.returncode == 0, done.stderr
    assert done.stdout != story()


def test_a_broken_rollout_stands_still_while_the_old_pods_serve() -> None:
    broken = story().split("A release goes wrong")[1].split("The operator rolls back")[0]
    assert "rollout to finish: 1 out of 3 new replicas have been updated..." in broken
    assert "deployment.apps/web   3/3     1            3" in broken
    assert "docker.io/library/nginx:1.91: not found" in broken
    assert re.search(r"^ +\d+ answered$", broken, re.MULTILINE)
    assert not re.search(r"^ +\d+ failed$", broken, re.MULTILINE)


def test_it_is_rolled_back() -> None:
    healed = story().split("The operator rolls back")[1].split("Deeper down")[0]
    assert 'deployment "web" successfully rolled out' in healed
    assert "ImagePull" not in healed


def test_a_lost_machine_is_noticed_and_survived() -> None:
    deeper = story().split("Deeper down")[1]
    assert "NotReady" in deeper
    assert deeper.index("NotReady") < deeper.index("web    3/3     3            3")
