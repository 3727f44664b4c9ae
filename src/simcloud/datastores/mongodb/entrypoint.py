"""``docker-entrypoint.sh`` of the mongo image, as a program.

With an empty data folder, and scripts to run or a root user to create, it first starts mongod on 127.0.0.1
without access control, creates the user, runs the scripts in the order of their names (``*.js`` in the mongo
shell, ``*.sh`` in bash) and stops it. Then it executes the given command.
"""

from __future__ import annotations

import json
from typing import Final

from simcloud.datastores.mongodb.options import BadOptions, Options, parse_options
from simcloud.datastores.mongodb.wire import MONGODB
from simcloud.machine.files import FileError
from simcloud.machine.network import NetworkError
from simcloud.machine.process import CommandNotFound, Context, ForkFailed, NotExecutable, Process

SCRIPTS: Final = "/docker-entrypoint-initdb.d"
NAME: Final = "/usr/local/bin/docker-entrypoint.sh"
TRIES: Final = 30
MONGODB_UID: Final = 999
DATA_FOLDERS: Final = ("/data/configdb", "/data/db")
TEMPORARY_DROPPED: Final = ("--auth", "--replSet", "--bind_ip", "--bind_ip_all", "--keyFile", "--tlsMode", "--tlsCertificateKeyFile", "--tlsCAFile", "--logpath")  # fmt: skip
WITH_VALUE: Final = ("--replSet", "--bind_ip", "--keyFile", "--tlsMode", "--tlsCertificateKeyFile", "--tlsCAFile", "--logpath")  # fmt: skip


async def docker_entrypoint(ctx: Context) -> int:
    """Prepare the data folder if need be, then run the given command."""
    argv = ctx.args[1:]
    if not argv or argv[0].startswith("-"):
        argv = ["mongod", *argv]
    if argv[0] == "mongod":
        try:
            options = parse_options(argv[1:], ctx.files)
        except BadOptions:
            options = None  # mongod will say itself what is wrong
        _drop_root(ctx)
        if options is not None:
            status = await _initialize(ctx, argv, options)
            if status:
                return status
            if not any(
                word.startswith(("--bind_ip", "--ipv6")) for word in argv
            ) and "bindIp" not in options.given.get("net", {}):
                argv = [*argv, "--bind_ip_all"]
    try:
        await ctx.exec(argv)
    except CommandNotFound:
        await ctx.err(f"{NAME}: line 409: exec: {argv[0]}: not found\n")
        return 127
    except NotExecutable as error:
        await ctx.err(f"{NAME}: line 409: {argv[0]}: {error}\n")
        return 126


def _drop_root(ctx: Context) -> None:
    """Give the data folders to the user ``mongodb`` as far as that is possible, and continue as this user."""
    files = ctx.files
    if files.uid:
        return
    waiting = [folder for folder in DATA_FOLDERS if files.is_dir(folder)]
    while waiting:
        path = waiting.pop()
        try:
            if files.stat(path).uid != MONGODB_UID:
                files.chown(path, MONGODB_UID, -1, follow=False)
            if files.is_dir(path):
                waiting += [f"{path}/{name}" for name in files.listdir(path)]
        except FileError:
            pass  # mongod will report what it cannot use
    files.uid = files.gid = MONGODB_UID
    ctx.env["HOME"] = "/home/mongodb"


async def _initialize(ctx: Context, argv: list[str], options: Options) -> int:
    user, password = _secret(ctx, "MONGO_INITDB_ROOT_USERNAME"), _secret(ctx, "MONGO_INITDB_ROOT_PASSWORD")
    if bool(user) != bool(password):
        await ctx.err(
            "error: missing 'MONGO_INITDB_ROOT_USERNAME' or 'MONGO_INITDB_ROOT_PASSWORD'\n"
            "       both must be specified for a user to be created\n"
        )
        return 1
    scripts = _scripts(ctx)
    if not (user or scripts) or _has_data(ctx, options.db_path):
        return 0
    server = await _start(ctx, argv, options)
    if server is None:
        return 1
    status = await _root_user(ctx, user, password, options) if user else 0
    for script in scripts if not status else ():
        status = await _run(ctx, script, options)
        if status:
            return status
    if status or await _child(ctx, ["mongod", "--dbpath", options.db_path, "--shutdown"]):
        return status or 1
    await ctx.out("\nMongoDB init process complete; ready for start up.\n\n")
    return 0


def _secret(ctx: Context, name: str) -> str:
    """Return a setting from the environment, or from the file that its ``_FILE`` twin names."""
    path = ctx.env.get(f"{name}_FILE")
    if path:
        try:
            return ctx.files.read(path).decode("utf-8", "replace").rstrip("\n")
        except FileError:
            return ""
    return ctx.env.get(name, "")


def _scripts(ctx: Context) -> list[str]:
    try:
        names = sorted(ctx.files.listdir(SCRIPTS))
    except FileError:
        return []
    return [f"{SCRIPTS}/{name}" for name in names if not name.startswith(".")]


def _has_data(ctx: Context, folder: str) -> bool:
    return any(
        ctx.files.exists(f"{folder}/{name}") for name in ("WiredTiger", "journal", "local.0", "storage.bson")
    )


async def _start(ctx: Context, argv: list[str], options: Options) -> Process | None:
    """Return the temporary server, once it can be reached."""
    words = ["mongod", "--bind_ip", "127.0.0.1", "--port", str(options.port)]
    rest = argv[1:]
    while rest:
        word = rest.pop(0)
        if word.partition("=")[0] in TEMPORARY_DROPPED:
            if word in WITH_VALUE and rest:
                rest.pop(0)
        elif word == "--port" and rest:
            rest.pop(0)
        elif word in ("--config", "-f") and rest:
            rest.pop(0)
            words += ["--dbpath", options.db_path]
        else:
            words.append(word)
    await ctx.out("about to fork child process, waiting until server is ready for connections.\n")
    try:
        server = ctx.start(words)
    except (CommandNotFound, NotExecutable, ForkFailed) as error:
        await ctx.err(f"{NAME}: {error}\n")
        return None
    await ctx.out(f"forked process: {server.pid}\n")
    for _ in range(TRIES):
        await ctx.sleep(1.0)
        if not server.alive:
            break
        try:
            (await ctx.dial("127.0.0.1", options.port, MONGODB, 1.0)).close()
        except NetworkError:
            continue
        await ctx.out("child process started successfully, parent exiting\n")
        return server
    await ctx.err("\nerror: mongod does not appear to have stayed running -- perhaps it had an error?\n\n")
    return None


async def _root_user(ctx: Context, user: str, password: str, options: Options) -> int:
    roles = '[ { role: "root", db: "admin" } ]'
    script = f"db.createUser({{ user: {json.dumps(user)}, pwd: {json.dumps(password)}, roles: {roles} }})"
    return await _child(
        ctx,
        ["mongo", "--host", "127.0.0.1", "--port", str(options.port), "--quiet", "admin", "--eval", script],
    )


async def _run(ctx: Context, path: str, options: Options) -> int:
    if path.endswith(".sh"):
        await ctx.out(f"{NAME}: running {path}\n")
        status = await _child(ctx, ["bash", path])
    elif path.endswith(".js"):
        await ctx.out(f"{NAME}: running {path}\n")
        database = ctx.env.get("MONGO_INITDB_DATABASE", "test")
        shell = ["mongo", "--host", "127.0.0.1", "--port", str(options.port), "--quiet", database, path]
        status = await _child(ctx, shell)
        await ctx.out("\n")
    else:
        await ctx.out(f"{NAME}: ignoring {path}\n")
        status = 0
    await ctx.out("\n")
    return status


async def _child(ctx: Context, argv: list[str]) -> int:
    try:
        return await ctx.start(argv).wait()
    except CommandNotFound:
        await ctx.err(f"{NAME}: line 374: {argv[0]}: command not found\n")
        return 127
    except (NotExecutable, ForkFailed) as error:
        await ctx.err(f"{NAME}: line 374: {argv[0]}: {error}\n")
        return 126
