"""The messages between client and mongod: a command document and a reply document.

Messages are typed, not bytes; their sizes are estimated, so that large results take longer on slow links.
``MONGODB`` is the protocol without and ``MONGODB_TLS`` with TLS; the server decides which it accepts.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from simcloud.datastores.mongodb.bson import Document

MONGODB: Final = "mongodb"
MONGODB_TLS: Final = "mongodb+tls"

PORT: Final = 27017
COMMAND_BYTES: Final = 200
REPLY_BYTES: Final = 120
DOCUMENT_BYTES: Final = 160


class Command(NamedTuple):
    """A command on a database; the name of its first field is the name of the command."""

    id: int
    db: str
    body: Document


class Reply(NamedTuple):
    """The reply to the command with that id. ``ok`` is 1.0, or 0.0 with errmsg, code and codeName."""

    id: int
    body: Document


def command_bytes(body: Document) -> int:
    """About how large a command is: its own fields and the documents it carries."""
    carried: Any = body.get("documents") or body.get("updates") or body.get("deletes") or ()
    return COMMAND_BYTES + (DOCUMENT_BYTES * len(carried) if carried.__class__ is list else 0)


def reply_bytes(body: Document) -> int:
    """About how large a reply is."""
    cursor = body.get("cursor")
    if cursor is None:
        return REPLY_BYTES
    return REPLY_BYTES + DOCUMENT_BYTES * len(cursor.get("firstBatch") or cursor.get("nextBatch") or ())
