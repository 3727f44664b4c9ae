"""Commands that a client sends first: hello, ping and the like."""

from __future__ import annotations

from simcloud.datastores.mongodb.bson import Document, date
from simcloud.datastores.mongodb.commands.registry import command, ok
from simcloud.datastores.mongodb.server import Request
from simcloud.datastores.mongodb.version import (
    GIT_VERSION,
    MAX_DOCUMENT_BYTES,
    MAX_MESSAGE_BYTES,
    MAX_WIRE_VERSION,
    MAX_WRITE_BATCH,
    VERSION,
    VERSION_ARRAY,
)


@command("hello", "isMaster", "ismaster")
def hello(request: Request) -> Document:
    """Describe the server to a driver."""
    primary = "isWritablePrimary" if request.name == "hello" else "ismaster"
    request.session.introduce(request.document("client"))
    reply: Document = {
        primary: True,
        "topologyVersion": {"processId": request.server.process_id, "counter": 0},
        "maxBsonObjectSize": MAX_DOCUMENT_BYTES,
        "maxMessageSizeBytes": MAX_MESSAGE_BYTES,
        "maxWriteBatchSize": MAX_WRITE_BATCH,
        "localTime": date(request.server.ctx.now),
        "logicalSessionTimeoutMinutes": 30,
        "connectionId": request.session.number,
        "minWireVersion": 0,
        "maxWireVersion": MAX_WIRE_VERSION,
        "readOnly": False,
    }
    user = request.body.get("saslSupportedMechs")
    if user.__class__ is str:
        reply["saslSupportedMechs"] = request.server.users.mechanisms_of(user)
    return {**reply, "ok": 1.0}


@command("ping")
def ping(request: Request) -> Document:
    """Yes, it is there."""
    return ok()


@command("buildInfo", "buildinfo")
def build_info(request: Request) -> Document:
    """Describe the build."""
    return ok(
        version=VERSION,
        gitVersion=GIT_VERSION,
        modules=[],
        allocator="tcmalloc",
        javascriptEngine="mozjs",
        sysInfo="deprecated",
        versionArray=VERSION_ARRAY,
        openssl={"running": "OpenSSL 1.1.1  11 Sep 2018", "compiled": "OpenSSL 1.1.1  11 Sep 2018"},
        buildEnvironment={
            "distmod": "ubuntu1804",
            "distarch": "x86_64",
            "cc": "/opt/mongodbtoolchain/v3/bin/gcc: gcc (GCC) 8.5.0",
            "target_arch": "x86_64",
            "target_os": "linux",
        },
        bits=64,
        debug=False,
        maxBsonObjectSize=MAX_DOCUMENT_BYTES,
        storageEngines=["biggie", "devnull", "ephemeralForTest", "wiredTiger"],
    )
