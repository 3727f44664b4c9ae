"""One seed, one terminal: a long script prints the same bytes, whatever the host's hashing, time zone and moment."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FAMILIES = ("rollout", "set", "describe", "logs", "wait")
EACH = 25

SCRIPT = f"""
import sys
from simcloud.world.clusters import add_cluster
from simcloud.world.terminal import Terminal
from simcloud.world.world import World
from tests.simcloud.kubectl.test_lines import HERE, PASS, lines_of

world = World(11)
cluster = add_cluster(world, 4)
cluster.start()
world.run_for(40)
terminal = Terminal(world, cluster)
manifests = HERE / "manifests"
for path in sorted(manifests.rglob("*")):
    if path.is_file():
        place = f"/root/{{path.relative_to(manifests)}}"
        terminal.machine.host.files.mkdir(place.rpartition("/")[0], parents=True)
        terminal.machine.host.files.put(place, path.read_bytes())
for family in {FAMILIES}:
    for line in lines_of(family)[:{EACH}]:
        if line.startswith(PASS):
            world.run_for(float(line.removeprefix(PASS)))
            continue
        done = terminal.run(line, 200)
        print("$", line, done.status)
        sys.stdout.flush()
        sys.stdout.buffer.write(done.stdout + done.stderr)
        sys.stdout.flush()
print(world.kernel.now, cluster.api.log.hash())
"""


def printed(hash_seed: str, zone: str) -> bytes:
    env = {**os.environ, "PYTHONHASHSEED": hash_seed, "TZ": zone, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=env, capture_output=True, check=False, timeout=1200
    )
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    return done.stdout


@pytest.mark.slow
def test_a_hundred_commands_print_the_same_bytes_twice() -> None:
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(printed, ("1", "2"), ("UTC", "Asia/Tokyo"))
    assert one.count(b"\n$ ") >= 100
    assert one == other
