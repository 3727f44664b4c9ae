"""Messages between the services, which are Thrift structures in the original.

A post is sent as the document that the database stores, without its ``_id``; it is never changed after sending.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple


class Post(dict[str, Any]):
    """A post. It is immutable, so that its encoded form can be cached in it."""

    __slots__ = ("encoded",)
    encoded: bytes


HANDLER: Final = "SE_THRIFT_HANDLER_ERROR"
MONGODB: Final = "SE_MONGODB_ERROR"
MEMCACHED: Final = "SE_MEMCACHED_ERROR"
UNAUTHORIZED: Final = "SE_UNAUTHORIZED"


class Draft(NamedTuple):
    """A new post as the user sends it; ComposePost."""

    req_id: int
    username: str
    user_id: int
    text: str
    media_ids: list[int]
    media_types: list[str]
    post_type: int


class Media(NamedTuple):
    """The pictures of a post; ComposeMedia."""

    types: list[str]
    ids: list[int]


class ComposedText(NamedTuple):
    """A text with shortened links, its mentions and its links; the result of ComposeText."""

    text: str
    mentions: list[dict[str, Any]]
    urls: list[dict[str, Any]]


class Creator(NamedTuple):
    """The author of a post; ComposeCreatorWithUserId."""

    user_id: int
    username: str


class TimelineEntry(NamedTuple):
    """A post to add to timelines; WriteUserTimeline and WriteHomeTimeline."""

    req_id: int
    post_id: int
    user_id: int
    timestamp: int
    mentions: list[int]


class Page(NamedTuple):
    """A page of a user's timeline; ReadHomeTimeline and ReadUserTimeline."""

    req_id: int
    user_id: int
    start: int
    stop: int


class Posts(NamedTuple):
    """Ids of posts to read; ReadPosts."""

    req_id: int
    ids: list[int]


class Usernames(NamedTuple):
    """Names of mentioned users; ComposeUserMentions."""

    req_id: int
    names: list[str]


class Registration(NamedTuple):
    """A new user; RegisterUserWithId."""

    first_name: str
    last_name: str
    username: str
    password: str
    user_id: int


class Login(NamedTuple):
    """A user name and a password."""

    username: str
    password: str


class Follow(NamedTuple):
    """A user to follow or unfollow; both users are given by ids or by names."""

    user: int | str
    followee: int | str
