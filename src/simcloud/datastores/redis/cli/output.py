"""How ``redis-cli`` prints replies: formatted or raw."""

from __future__ import annotations

from simcloud.datastores.redis.resp import ErrorReply, NilArray, Reply, Simple, quote


def for_people(reply: Reply, prefix: str = "") -> str:
    """With types and numbers: ``1) "a"``; newline at the end included."""
    if isinstance(reply, ErrorReply):
        return f"(error) {reply}\n"
    if isinstance(reply, Simple):
        return f"{reply}\n"
    if isinstance(reply, int):
        return f"(integer) {reply}\n"
    if isinstance(reply, bytes):
        return f"{quote(reply)}\n"
    if reply is None or isinstance(reply, NilArray):
        return "(nil)\n"
    if not reply:
        return "(empty array)\n"
    width = len(str(len(reply)))
    inner = f"{prefix}{' ' * (width + 2)}"
    lines = [
        f"{'' if at == 1 else prefix}{at:>{width}}) {for_people(each, inner)}"
        for at, each in enumerate(reply, 1)
    ]
    return "".join(lines)


def raw(reply: Reply) -> bytes:
    """As it is, elements one after another, a line each."""
    if isinstance(reply, ErrorReply):
        return f"{reply}\n".encode("utf-8", "surrogateescape")
    if isinstance(reply, Simple):
        return reply.encode("utf-8", "surrogateescape")
    if isinstance(reply, int):
        return b"%d" % reply
    if isinstance(reply, bytes):
        return reply
    if reply is None or isinstance(reply, NilArray):
        return b""
    return b"\n".join([raw(each) for each in reply])
