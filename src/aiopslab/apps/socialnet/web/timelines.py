"""Encode posts as JSON, byte for byte as Lua's encoder does: an empty list is ``{}``."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from aiopslab.apps.socialnet.messages import Post

EMPTY: Final[dict[str, Any]] = {}
encode: Final = msgspec.json.Encoder().encode


def encode_timeline(posts: list[Post]) -> bytes:
    """Encode a timeline, with a newline at the end."""
    if not posts:
        return b"{}\n"
    return b"[%s]\n" % b",".join([_encode_post(post) for post in posts])


def _encode_post(post: Post) -> bytes:
    try:
        return post.encoded  # cached, because most posts are read many times
    except AttributeError:
        post.encoded = encode(_convert_post(post)).replace(b"/", b"\\/")
        return post.encoded


def _convert_post(post: Post) -> dict[str, Any]:
    creator = post["creator"]
    return {
        "post_id": str(int(post["post_id"])),
        "creator": {"user_id": str(int(creator["user_id"])), "username": creator["username"]},
        "req_id": str(int(post["req_id"])),
        "text": post["text"],
        "user_mentions": [
            {"user_id": str(int(mention["user_id"])), "username": mention["username"]}
            for mention in post["user_mentions"]
        ]
        or EMPTY,
        "media": [
            {"media_id": str(int(picture["media_id"])), "media_type": picture["media_type"]}
            for picture in post["media"]
        ]
        or EMPTY,
        "urls": post["urls"] or EMPTY,
        "timestamp": str(int(post["timestamp"])),
        "post_type": post["post_type"],
    }
