"""The initial databases, as files in images.

Built once per process and shared by all containers of an image, which copy on write. Unlike in the original, user names also
have an index.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from random import Random
from typing import Final

from aiopslab.apps.socialnet.data.people import USERS, draw_neighbours, make_password, make_username
from aiopslab.apps.socialnet.data.posts import LAST_MS, SPAN_MS, build_posts
from aiopslab.apps.socialnet.messages import Registration
from aiopslab.apps.socialnet.services.user import SALT, SALT_LENGTH, build_user_document
from simcloud.datastores.mongodb import Document, Encoded, Int64, mongo_image
from simcloud.datastores.mongodb.storage import data_files
from simcloud.datastores.redis import build_snapshot, image_with
from simcloud.datastores.redis.engine import EncodedMembers, encode_member
from simcloud.machine import Image

DATA: Final = "/data/db"
SNAPSHOT: Final = "/data/dump.rdb"
REGISTERED_MS: Final = LAST_MS - SPAN_MS - 49_081_773
FOLLOWING_MS: Final = 5_431_207
"""Time in which the first users followed each other."""

SALT_SEED: Final = 32


def _build_unique_index(field: str) -> Document:
    return {"v": 2, "unique": True, "key": {field: 1}, "name": f"{field}_1"}


def _build_users() -> Iterable[Document]:
    chance = Random(SALT_SEED)
    for user in range(USERS):
        new = Registration(
            f"first_name_{user}", f"last_name_{user}", make_username(user), make_password(user), user
        )
        yield build_user_document(new, "".join(chance.choices(SALT, k=SALT_LENGTH)))


def _build_graph() -> Iterable[Document]:
    moments = [REGISTERED_MS + 60_000 + user * 7_919_483 % FOLLOWING_MS for user in range(USERS)]
    followers, followees = (
        [
            Encoded({"user_id": Int64(user), "timestamp": moment + user * step % 97})
            for user, moment in enumerate(moments)
        ]
        for step in (0, 31)
    )
    for user, others in enumerate(draw_neighbours()):
        friends = sorted(others, key=moments.__getitem__)
        yield {
            "user_id": Int64(user),
            "followers": [followers[friend] for friend in friends],
            "followees": [followees[friend] for friend in friends],
        }


def _build_timelines() -> Iterable[Document]:
    written: list[list[Document]] = [[] for _ in range(USERS)]
    for post in reversed(build_posts()):
        entry = {"post_id": post["post_id"], "timestamp": post["timestamp"]}
        written[post["creator"]["user_id"]].append(entry)
    return [{"user_id": Int64(user), "posts": entries} for user, entries in enumerate(written)]


@cache
def build_images_with_data() -> Mapping[str, Image]:
    """Build the images of the databases that have initial data, by database name."""
    plain = {"v": 2, "key": {"username": 1}, "name": "username_1"}
    contents: dict[str, tuple[str, Iterable[Document], list[Document]]] = {
        "user-mongodb": ("user.user", _build_users(), [_build_unique_index("user_id"), plain]),
        "social-graph-mongodb": (
            "social-graph.social-graph",
            _build_graph(),
            [_build_unique_index("user_id")],
        ),
        "post-storage-mongodb": ("post.post", build_posts(), [_build_unique_index("post_id")]),
        "user-timeline-mongodb": (
            "user-timeline.user-timeline",
            _build_timelines(),
            [_build_unique_index("user_id")],
        ),
    }
    images = {
        name: mongo_image(files=data_files(DATA, {namespace: (documents, indexes)}, written_ms / 1000))
        for name, (namespace, documents, indexes) in contents.items()
        for written_ms in [LAST_MS if "post" in namespace or "timeline" in namespace else REGISTERED_MS]
    }
    images["home-timeline-redis"] = _build_timelines_image()
    # The data is in the images now; keeping it twice would cost three megabytes.
    build_posts.cache_clear()
    draw_neighbours.cache_clear()
    return images


def _build_timelines_image() -> Image:
    """Build the Redis image with home timelines: for each user, post ids by time."""
    timelines: list[list[bytes]] = [[] for _ in range(USERS)]
    for post in sorted(build_posts(), key=lambda post: (post["timestamp"], b"%d" % post["post_id"])):
        entry = encode_member(b"%d" % post["post_id"], float(post["timestamp"]))
        mentioned = (mention["user_id"] for mention in post["user_mentions"])
        for reader in dict.fromkeys((*draw_neighbours()[post["creator"]["user_id"]], *mentioned)):
            timelines[reader].append(entry)
    sets = {b"%d" % user: EncodedMembers.join(found) for user, found in enumerate(timelines) if found}
    return image_with({SNAPSHOT: build_snapshot(sets, LAST_MS / 1000)})
