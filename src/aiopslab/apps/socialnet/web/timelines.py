"""Posts as the front shows them: JSON in the bytes that Lua's encoder makes, where an empty list is ``{}``."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from aiopslab.apps.socialnet.messages import Post

EMPTY: Final[dict[str, Any]] = {}
encode: Final = msgspec.json.Encoder().encode


def timeline(posts: list[Post]) -> bytes:
    """A timeline and the newline after it."""
    if not posts:
        return b"{}\n"
    return b"[%s]\n" % b",".join([_shown(post) for post in posts])


def _shown(post: Post) -> bytes:
    try:
        return post.shown  # most are read many times
    except AttributeError:
        post.shown = encode(_parts(post)).replace(b"/", b"\\/")
        return post.shown


def _parts(post: Post) -> dict[str, Any]:
    creator = post["creator"]
    return {
        "post_id": str(int(post["post_id"])),
        "creator": {"user_id": str(int(creator["user_id"])), "username": creator["username"]},
        "req_id": str(int(post["req_id"])),
        "text": post["text"],
        "user_mentions": [
            {"user_id": str(int(one["user_id"])), "username": one["username"]}
            for one in post["user_mentions"]
        ]
        or EMPTY,
        "media": [
            {"media_id": str(int(one["media_id"])), "media_type": one["media_type"]} for one in post["media"]
        ]
        or EMPTY,
        "urls": post["urls"] or EMPTY,
        "timestamp": str(int(post["timestamp"])),
        "post_type": post["post_type"],
    }
