"""The databases as they are when the world begins, as files in images.

Made once per process and shared by all containers of an image, which copy what they change. As in a database that
somebody looks after, names have an index, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from random import Random
from typing import Final

from aiopslab.apps.socialnet.data.people import USERS, neighbours, password, username
from aiopslab.apps.socialnet.data.posts import LAST_MS, SPAN_MS, posts
from aiopslab.apps.socialnet.messages import Registration
from aiopslab.apps.socialnet.services.user import SALT, SALT_LENGTH, person
from simcloud.datastores.mongodb.bson import Document, Int64
from simcloud.datastores.mongodb.image import mongo_image
from simcloud.datastores.mongodb.storage.prepared import data_files
from simcloud.datastores.redis.engine.database import Account, Database
from simcloud.datastores.redis.engine.values import Limits, SortedValue
from simcloud.datastores.redis.image import image_with
from simcloud.datastores.redis.rdb import dump
from simcloud.machine.image import Image

DATA: Final = "/data/db"
SNAPSHOT: Final = "/data/dump.rdb"
REGISTERED_MS: Final = LAST_MS - SPAN_MS
SALT_SEED: Final = 32


def _unique(field: str) -> Document:
    return {"v": 2, "key": {field: 1}, "name": f"{field}_1", "unique": True}


def _users() -> Iterable[Document]:
    chance = Random(SALT_SEED)
    for user in range(USERS):
        new = Registration(f"first_name_{user}", f"last_name_{user}", username(user), password(user), user)
        yield person(new, "".join(chance.choices(SALT, k=SALT_LENGTH)))


def _graph() -> Iterable[Document]:
    since = REGISTERED_MS
    entries = [{"user_id": Int64(user), "timestamp": since} for user in range(USERS)]
    for user, others in enumerate(neighbours()):
        both = [entries[other] for other in others]
        yield {"user_id": Int64(user), "followers": both, "followees": both}


def _timelines() -> Iterable[Document]:
    written: list[list[Document]] = [[] for _ in range(USERS)]
    for post in reversed(posts()):
        entry = {"post_id": post["post_id"], "timestamp": post["timestamp"]}
        written[post["creator"]["user_id"]].append(entry)
    return [{"user_id": Int64(user), "posts": entries} for user, entries in enumerate(written)]


@cache
def images_with_data() -> Mapping[str, Image]:
    """The images of the databases that begin with data, by the databases' names."""
    plain = {"v": 2, "key": {"username": 1}, "name": "username_1"}
    contents: dict[str, tuple[str, Iterable[Document], list[Document]]] = {
        "user-mongodb": ("user.user", _users(), [_unique("user_id"), plain]),
        "social-graph-mongodb": ("social-graph.social-graph", _graph(), [_unique("user_id")]),
        "post-storage-mongodb": ("post.post", posts(), [_unique("post_id")]),
        "user-timeline-mongodb": ("user-timeline.user-timeline", _timelines(), [_unique("user_id")]),
    }
    made = {
        name: mongo_image(files=data_files(DATA, {namespace: (documents, indexes)}, LAST_MS / 1000))
        for name, (namespace, documents, indexes) in contents.items()
    }
    made["home-timeline-redis"] = _timelines_image()
    # All that was drawn stands in the images now; kept beside them it would take three megabytes.
    posts.cache_clear()
    neighbours.cache_clear()
    return made


def _timelines_image() -> Image:
    """The Redis with home timelines: for each person, posts by the time of their writing."""
    database, limits = Database(0, lambda: LAST_MS, Account()), Limits()
    timelines = [SortedValue() for _ in range(USERS)]
    for post in posts():
        id, time_ms = b"%d" % post["post_id"], float(post["timestamp"])
        mentioned = (one["user_id"] for one in post["user_mentions"])
        for reader in dict.fromkeys((*neighbours()[post["creator"]["user_id"]], *mentioned)):
            timelines[reader].put(id, time_ms, limits)
    for user, timeline in enumerate(timelines):
        database.put(b"%d" % user, timeline)
    snapshot = dump([database], LAST_MS / 1000, 0, checked=False)
    return image_with({SNAPSHOT: snapshot})
