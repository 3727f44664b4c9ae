"""The image's entry point: what it does with an empty data folder, and with one that is not."""

from __future__ import annotations

from typing import Any

from simcloud.datastores.mongodb.driver import MongoClient
from simcloud.machine.process import Context, Signal
from tests.simcloud.datastores.mongodb.world import MongoWorld

SCRIPTS = "/docker-entrypoint-initdb.d"


async def maker(ctx: Context) -> int:
    """Stands for the shell: makes the user that its last argument or script names."""
    client = MongoClient(ctx, "127.0.0.1:27017")
    await client.connect()
    name = ctx.files.read(ctx.args[-1]).decode().strip() if ctx.args[-1].endswith(".js") else "root"
    body = {"createUser": name, "pwd": "secret", "roles": ["root"]}
    await client.run("admin", body)
    await ctx.out(f"made {name}\n")
    return 0


def test_init_scripts_run_once_before_access_control_begins() -> None:
    world = MongoWorld("--auth", programs={"mongo": maker}, start=False)
    world.files[f"{SCRIPTS}/b.js"] = b"ann\n"
    world.files[f"{SCRIPTS}/a.sh"] = b"echo first; echo $PPID > /tmp/ran\n"
    world.files[f"{SCRIPTS}/c.txt"] = b"nothing"
    world.start(wait_s=10)
    said = [line for line in world.lines if not line.startswith("{")]
    assert [line for line in said if line] == [
        "about to fork child process, waiting until server is ready for connections.",
        "forked process: 2",
        "child process started successfully, parent exiting",
        f"/usr/local/bin/docker-entrypoint.sh: running {SCRIPTS}/a.sh",
        "first",
        f"/usr/local/bin/docker-entrypoint.sh: running {SCRIPTS}/b.js",
        "made ann",
        f"/usr/local/bin/docker-entrypoint.sh: ignoring {SCRIPTS}/c.txt",
        "killing process with pid: 2",
        "MongoDB init process complete; ready for start up.",
    ]
    ann = {"username": "ann", "password": "secret"}
    assert world.command("test", {"count": "x"}, **ann)["n"] == 0
    assert world.command("test", {"count": "x"}).code == 13
    world.command("admin", {"dropUser": "ann"}, **ann)
    world.process.send(Signal.TERM)
    world.kernel.run_for(1)
    world.start(wait_s=10)
    assert world.command("admin", {"ping": 1}, **ann).code == 18, "scripts run only on an empty folder"


def test_a_root_user_comes_from_the_environment() -> None:
    world = MongoWorld("--auth", programs={"mongo": maker}, start=False)
    env = {"MONGO_INITDB_ROOT_USERNAME": "root", "MONGO_INITDB_ROOT_PASSWORD": "secret"}
    world.start(env=env, wait_s=10)
    assert world.command("admin", {"serverStatus": 1}, username="root", password="secret")["ok"] == 1.0


def test_half_a_root_user_is_refused() -> None:
    world = MongoWorld(start=False)
    process = world.start(env={"MONGO_INITDB_ROOT_USERNAME": "root"})
    assert process.status == 1
    assert "error: missing 'MONGO_INITDB_ROOT_USERNAME' or 'MONGO_INITDB_ROOT_PASSWORD'" in world.lines


def test_a_script_that_fails_ends_the_container() -> None:
    world = MongoWorld(start=False)
    world.files[f"{SCRIPTS}/a.sh"] = b"exit 3\n"
    assert world.start(wait_s=10).status == 3


def test_without_scripts_it_starts_at_once_for_everybody() -> None:
    world = MongoWorld()
    reply: Any = world.command("admin", {"getCmdLineOpts": 1})
    assert reply["parsed"] == {"net": {"bindIp": "*"}}


USERS = b"""
db = db.getSiblingDB("admin");
for (const name of ["admin", "root"]) {
  db.createUser({user: name, pwd: name, roles: [
    { role: "userAdminAnyDatabase", db: "admin" }, { role: "readWrite", db: "geo-db" } ]});
}
"""


def test_the_shell_runs_the_scripts() -> None:
    world = MongoWorld("--auth", start=False)
    world.files[f"{SCRIPTS}/init.js"] = USERS
    world.start(wait_s=10)
    assert world.command("geo-db", {"count": "geo"}, username="admin", password="admin")["n"] == 0
    assert world.command("rate-db", {"count": "x"}, username="admin", password="admin").code == 13
    dropped = world.machine.containers["store"].run(
        ["mongo", "admin", "-u", "root", "-p", "root", "--quiet", "--eval", 'db.dropUser("admin")']
    )
    assert (dropped.status, dropped.stdout) == (0, b"true\n")
    assert world.command("admin", {"ping": 1}, username="admin", password="admin").code == 18
