"""What the services say to each other: the structures of the application's Thrift file.

A post travels as the document that the database keeps, without its ``_id``; nobody changes one that was sent.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple


class Post(dict[str, Any]):
    """A post. It is made once and never changed, so that whoever shows it can keep what that looks like."""

    __slots__ = ("shown",)
    shown: bytes


HANDLER: Final = "SE_THRIFT_HANDLER_ERROR"
MONGODB: Final = "SE_MONGODB_ERROR"
MEMCACHED: Final = "SE_MEMCACHED_ERROR"
UNAUTHORIZED: Final = "SE_UNAUTHORIZED"


class Draft(NamedTuple):
    """What somebody wants to post; ComposePost."""

    req_id: int
    username: str
    user_id: int
    text: str
    media_ids: list[int]
    media_types: list[str]
    post_type: int


class Media(NamedTuple):
    """Pictures that belong to a post; ComposeMedia."""

    types: list[str]
    ids: list[int]


class Composed(NamedTuple):
    """A text with short addresses, whom it mentions, and the addresses; what ComposeText returns."""

    text: str
    mentions: list[dict[str, Any]]
    urls: list[dict[str, Any]]


class Creator(NamedTuple):
    """Who writes; ComposeCreatorWithUserId."""

    user_id: int
    username: str


class Written(NamedTuple):
    """A post that belongs in timelines; WriteUserTimeline and WriteHomeTimeline."""

    req_id: int
    post_id: int
    user_id: int
    timestamp: int
    mentions: list[int]


class Page(NamedTuple):
    """A part of somebody's timeline; ReadHomeTimeline and ReadUserTimeline."""

    req_id: int
    user_id: int
    start: int
    stop: int


class Posts(NamedTuple):
    """Posts by their ids; ReadPosts."""

    req_id: int
    ids: list[int]


class Usernames(NamedTuple):
    """Who is mentioned; ComposeUserMentions."""

    req_id: int
    names: list[str]


class Registration(NamedTuple):
    """A new person; RegisterUserWithId."""

    first_name: str
    last_name: str
    username: str
    password: str
    user_id: int


class Login(NamedTuple):
    """Who somebody says to be."""

    username: str
    password: str


class Follow(NamedTuple):
    """Somebody follows somebody, or does so no more; by ids, or by names."""

    user: int | str
    followee: int | str
