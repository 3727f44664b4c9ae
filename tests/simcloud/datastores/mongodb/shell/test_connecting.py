"""Starting the shells: greetings, prompts, command lines, failures and exit codes."""

from __future__ import annotations

import re

import pytest

from simcloud.datastores.mongodb.shell.options import BadCommandLine, parse_options
from tests.simcloud.datastores.mongodb.shell.shells import ShellWorld

SCRIPTS = "/docker-entrypoint-initdb.d"
SESSION = re.compile(r'Implicit session: session \{ "id" : UUID\("[0-9a-f-]{36}"\) \}')


@pytest.fixture(scope="module")
def world() -> ShellWorld:
    return ShellWorld()


@pytest.fixture(scope="module")
def locked() -> ShellWorld:
    made = ShellWorld("--auth")
    made.evaluated('db.createUser({user: "root", pwd: "root", roles: ["root"]})', "admin")
    login = ("admin", "-u", "root", "-p", "root")
    made.evaluated('db.createUser({user: "reader", pwd: "p@ss", roles: [{role: "read", db: "geo"}]})', *login)
    return made


def test_the_greeting(world: ShellWorld) -> None:
    said = world.shell("mongo", "--eval", "db.version()").out.splitlines()
    assert said[:2] == [
        "MongoDB shell version v4.4.6",
        "connecting to: mongodb://127.0.0.1:27017/?compressors=disabled&gssapiServiceName=mongodb",
    ]
    assert SESSION.fullmatch(said[2])
    assert said[3:] == ["MongoDB server version: 4.4.6", "4.4.6"]


def test_prompts_only_on_a_terminal(world: ShellWorld) -> None:
    piped = world.shell("mongo", stdin="db\n")
    assert piped.out.endswith("MongoDB server version: 4.4.6\ntest\nbye\n")
    typed = world.shell("mongo", "geo", stdin="db\nf(\n1)\nexit\n", terminal=True)
    assert "The server generated these startup warnings when booting: " in typed.out
    assert "> geo\n> ... uncaught exception: ReferenceError: f is not defined" in typed.out
    assert typed.out.endswith("> bye\n")
    assert world.shell("mongo", "--quiet", stdin="1\n", terminal=True).out == "> 1\n> "


@pytest.mark.parametrize(
    ("argv", "status", "last"),
    [
        (["mongo", "--quiet", "--eval", "1"], 0, "1"),
        (["mongo", "--quiet", "--eval", "quit(7)"], 7, ""),
        (["mongo", "--quiet", "--eval", "foo"], 252, "exiting with code -4"),
        (["mongo", "--quiet", "/none.js"], 253, "failed to load: /none.js\nexiting with code -3"),
        (["mongo", "--nodb", "--quiet", "--eval", "typeof db"], 0, "undefined"),
        (["mongosh", "--nodb", "--quiet", "--eval", "1"], 0, "1"),
        (["mongosh", "--quiet", "--eval", "foo"], 1, "ReferenceError: foo is not defined"),
        (["mongosh", "--version"], 0, "2.12.0"),
        (["mongo", "--bad"], 1, "Error parsing command line: unrecognised option '--bad'\ntry 'mongo --help' for more information"),
    ],
)  # fmt: skip
def test_exit_codes(world: ShellWorld, argv: list[str], status: int, last: str) -> None:
    ended = world.shell(*argv)
    assert ended.status == status
    assert (ended.out + ended.err).rstrip("\n").endswith(last)


def test_mongosh_greets_only_who_stays(world: ShellWorld) -> None:
    said = world.shell("mongosh", "geo", stdin="db\n").out.splitlines()
    assert said[0].startswith("Current Mongosh Log ID:\t")
    assert said[1] == (
        "Connecting to:\t\tmongodb://127.0.0.1:27017/geo?directConnection=true&serverSelectionTimeoutMS=2000"
        "&appName=mongosh+2.12.0"
    )
    assert said[2:5] == ["Using MongoDB:\t\t4.4.6", "Using Mongosh:\t\t2.12.0", ""]
    assert "   The server generated these startup warnings when booting" in said
    assert said[-2:] == ["geo> geo", "geo> "]
    assert world.shell("mongosh", "--eval", "1").out == "1\n"


def test_connection_refused(world: ShellWorld) -> None:
    ended = world.shell("mongo", "--port", "27777")
    assert ended.status == 1
    assert ended.out.splitlines()[2:] == [
        "Error: couldn't connect to server 127.0.0.1:27777, connection attempt failed: SocketException: Error connecting"
        " to 127.0.0.1:27777 :: caused by :: Connection refused :",
        "connect@src/mongo/shell/mongo.js:374:17",
        "@(connect):2:6",
        "exception: connect failed",
        "exiting with code 1",
    ]
    newer = world.shell("mongosh", "mongodb://127.0.0.1:27777/geo", "--eval", "1")
    assert (newer.status, newer.err) == (1, "MongoNetworkError: connect ECONNREFUSED 127.0.0.1:27777\n")


def test_unknown_host(world: ShellWorld) -> None:
    said = world.shell("mongo", "--host", "nowhere").out
    assert (
        "HostNotFound: Could not find address for nowhere:27017: SocketException: Host not found (authoritative)"
        in said
    )
    assert (
        world.shell("mongosh", "--host", "nowhere").err
        == "MongoNetworkError: getaddrinfo ENOTFOUND nowhere\n"
    )


def test_logging_in(locked: ShellWorld) -> None:
    ways: list[tuple[str, ...]] = [
        ("geo", "-u", "reader", "-p", "p@ss", "--authenticationDatabase", "admin"),
        ("geo", "--username=reader", "--password=p@ss", "--authenticationDatabase=admin"),
        ("geo", "-ureader", "-pp@ss", "--authenticationDatabase", "admin"),
        ("mongodb://reader:p%40ss@127.0.0.1:27017/geo?authSource=admin",),
        ("127.0.0.1:27017/geo", "-u", "reader", "-p", "p@ss", "--authenticationDatabase", "admin"),
    ]
    for way in ways:
        for shell in ("mongo", "mongosh"):
            assert locked.evaluated("db.c.count()", *way, shell=shell) == "0\n", way
    asked = locked.shell(
        "mongo",
        "--quiet",
        "geo",
        "-u",
        "reader",
        "--authenticationDatabase",
        "admin",
        "-p",
        "--eval",
        "1",
        stdin="p@ss\n",
    )
    assert asked.out == "Enter password: \n1\n"


def test_failing_to_log_in(locked: ShellWorld) -> None:
    for wrong in (("-u", "reader", "-p", "no"), ("-u", "nobody", "-p", "x")):
        ended = locked.shell("mongo", "admin", *wrong)
        assert ended.status == 1
        assert ended.out.splitlines()[2] == "Error: Authentication failed. :"
        assert ended.out.endswith("exception: connect failed\nexiting with code 1\n")
    newer = locked.shell("mongosh", "admin", "-u", "reader", "-p", "no", "--eval", "1")
    assert (newer.status, newer.err) == (1, "MongoServerError: Authentication failed.\n")


def test_without_a_login_little_is_allowed(locked: ShellWorld) -> None:
    said = locked.typed(
        "db.c.find()", "db.c.insert({})", "db.c.count()", "show dbs", "show collections", "db.getUsers()"
    )
    refused = (
        '"errmsg" : "command find requires authentication",\n\t"code" : 13,\n\t"codeName" : "Unauthorized"\n}'
    )
    assert said.startswith('Error: error: {\n\t"ok" : 0,\n\t' + refused)
    assert 'WriteCommandError({\n\t"ok" : 0,\n\t"errmsg" : "command insert requires authentication",' in said
    assert 'uncaught exception: Error: count failed: {\n\t"ok" : 0,' in said
    assert "Warning: unable to run listCollections, attempting to approximate collection names" in said
    assert "uncaught exception: Error: command usersInfo requires authentication :" in said
    newer = locked.typed("db.c.find()", "db.c.insertOne({})", shell="mongosh")
    assert newer == (
        "test> MongoServerError[Unauthorized]: command find requires authentication\n"
        "test> MongoServerError[Unauthorized]: command insert requires authentication\ntest> "
    )


def test_what_a_role_does_not_allow(locked: ShellWorld) -> None:
    said = locked.shell(
        "mongo", "--quiet", "geo", "-u", "reader", "-p", "p@ss", "--authenticationDatabase", "admin",
        stdin="db.c.find()\ndb.c.insert({a: 1})\n",
    ).out  # fmt: skip
    assert re.search(
        r'not authorized on geo to execute command \{ insert: \\"c\\", .*lsid: \{ id: UUID\(.*\) \}, \$db: \\"geo\\" \}',
        said,
    )


def test_tools_send_a_session(locked: ShellWorld) -> None:
    login = ("-u", "reader", "-p", "p@ss", "--authenticationDatabase", "admin")
    refused = locked.shell("mongostat", *login).err
    assert re.search(
        r"Failed: \(Unauthorized\) not authorized on admin to execute command \{ serverStatus: 1, recordStats: 0, "
        r'lsid: \{ id: UUID\("[0-9a-f-]{36}"\) \}, \$db: "admin" \}\n',
        refused,
    )


def test_init_scripts_make_users_before_access_control() -> None:
    world = ShellWorld.__new__(ShellWorld)
    super(ShellWorld, world).__init__("--auth", start=False)
    world.files[f"{SCRIPTS}/init.js"] = b"""
        db = db.getSiblingDB('admin');
        for (const name of ['admin', 'root']) {
            db.createUser({user: name, pwd: name, roles: [
                {role: 'userAdminAnyDatabase', db: 'admin'}, {role: 'readWrite', db: 'geo-db'}]});
        }
    """
    world.start(wait_s=15)
    assert sum(line.startswith("Successfully added user: {") for line in world.lines) == 2
    assert "MongoDB init process complete; ready for start up." in world.lines
    assert world.command("geo-db", {"count": "geo"}, username="admin", password="admin")["n"] == 0


def test_a_broken_init_script_stops_the_container() -> None:
    world = ShellWorld.__new__(ShellWorld)
    super(ShellWorld, world).__init__("--auth", start=False)
    world.files[f"{SCRIPTS}/init.js"] = b"db.createUsr({})"
    world.start(wait_s=15)
    assert "uncaught exception: TypeError: db.createUsr is not a function :" in world.lines
    assert "exiting with code -3" in world.lines
    assert world.process.status == 253


def test_shells_in_bash(locked: ShellWorld) -> None:
    script = "mongo --quiet admin -u root -p root <<EOF\nuse geo\ndb.x.insert({a: 1})\ndb.x.count()\nEOF\necho $?\n"
    assert (
        locked.shell("bash", stdin=script).out
        == 'switched to db geo\nWriteResult({ "nInserted" : 1 })\n1\n0\n'
    )


@pytest.mark.parametrize("argv", [["--port"], ["--port", "x"], ["ftp://x"], ["--host", "a:b"]])
def test_bad_command_lines(argv: list[str]) -> None:
    with pytest.raises(BadCommandLine):
        parse_options(argv, "{name}")
