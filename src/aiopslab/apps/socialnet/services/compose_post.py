"""compose-post-service: composes a post with the help of four services, stores it and adds it to timelines."""

from __future__ import annotations

from functools import partial
from typing import Any, Final, NamedTuple

from aiopslab.apps.socialnet.messages import ComposedText, Creator, Draft, Media, TimelineEntry
from aiopslab.apps.socialnet.services.service_call import ServiceCall
from aiopslab.apps.socialnet.services.startup import Startup, make_program, unwrap
from simcloud.datastores.mongodb import Int64
from simcloud.services.rpc import Call

CPU_S: Final = 0.0002


class Helper(NamedTuple):
    """A helper function of the original: the name of its connection pool, its own name and its error message."""

    pool: str
    function: str
    failure: str


TEXT: Final = Helper(
    "text-service-client", "_ComposeTextHelper", "Failed to send compose-text to text-service"
)
CREATOR: Final = Helper(
    "user-service-client", "_ComposeCreaterHelper", "Failed to send compose-creator to user-service"
)
MEDIA: Final = Helper(
    "media-service-client", "_ComposeMediaHelper", "Failed to send compose-media to media-service"
)
UNIQUE_ID: Final = Helper(
    "unique-id-service-client",
    "_ComposeUniqueIdHelper",
    "Failed to send compose-unique_id to unique_id-service",
)
STORE: Final = Helper(
    "post-storage-client", "_UploadPostHelper", "Failed to store post to post-storage-service"
)
USER_TIMELINE: Final = Helper("user-timeline-client", "_UploadUserTimelineHelper", "")
HOME_TIMELINE: Final = Helper(
    "home-timeline-service-client",
    "_UploadHomeTimelineHelper",
    "Failed to write home timeline to home-timeline-service",
)


def _make_call(
    startup: Startup, service: str, method: str, span: str, helper: Helper, no_client: int, failed: int
) -> ServiceCall:
    """Return a call whose failures are logged on two lines of the source: without a free connection, and of the call."""
    no_client_place, place = (startup.locate(line, helper.function) for line in (no_client, failed))
    pool = startup.open_pool(service, helper.pool)
    return ServiceCall(pool, method, f"{span}_client", startup, helper.failure, place, no_client_place)


class ComposePost:
    """The handler of ComposePost."""

    def __init__(self, startup: Startup) -> None:
        self._startup = startup
        make_call = partial(_make_call, startup)
        self._text = make_call("text-service", "ComposeText", "compose_text", TEXT, 163, 174)
        self._user = make_call(
            "user-service", "ComposeCreatorWithUserId", "compose_creator", CREATOR, 126, 137
        )
        self._media = make_call("media-service", "ComposeMedia", "compose_media", MEDIA, 201, 213)
        self._id = make_call("unique-id-service", "ComposeUniqueId", "compose_unique_id", UNIQUE_ID, 239, 250)
        self._store = make_call("post-storage-service", "StorePost", "store_post", STORE, 276, 285)
        self._user_timeline = make_call(
            "user-timeline-service", "WriteUserTimeline", "write_user_timeline", USER_TIMELINE, 309, 0
        )
        self._home_timeline = make_call(
            "home-timeline-service", "WriteHomeTimeline", "write_home_timeline", HOME_TIMELINE, 343, 353
        )

    async def compose(self, call: Call) -> None:
        """Compose, store and publish a post."""
        draft: Draft = call.payload
        span = call.span
        text, creator, media, id = await self._startup.run_together(
            self._text.call(draft.text, span),
            self._user.call(Creator(draft.user_id, draft.username), span),
            self._media.call(Media(draft.media_types, draft.media_ids), span),
            self._id.call(draft.post_type, span),
        )
        timestamp = int(self._startup.ctx.now * 1000)
        post_id: int = unwrap(id)
        post = _post(draft, post_id, timestamp, unwrap(creator), unwrap(media), unwrap(text))
        await self._store.call(post, span)
        mentions = [int(mention["user_id"]) for mention in post["user_mentions"]]
        entry = TimelineEntry(draft.req_id, post_id, draft.user_id, timestamp, mentions)
        await self._user_timeline.call(entry, span)
        await self._home_timeline.call(entry, span)


def _post(
    draft: Draft,
    post_id: int,
    timestamp: int,
    creator: Creator,
    media: list[dict[str, Any]],
    text: ComposedText,
) -> dict[str, Any]:
    return {
        "post_id": Int64(post_id),
        "timestamp": Int64(timestamp),
        "text": text.text,
        "req_id": Int64(draft.req_id),
        "post_type": draft.post_type,
        "creator": {"user_id": Int64(creator.user_id), "username": creator.username},
        "urls": text.urls,
        "user_mentions": text.mentions,
        "media": media,
    }


async def main(startup: Startup) -> int:
    """Run the service."""
    server = startup.create_server()
    server.method("ComposePost", ComposePost(startup).compose, "compose_post_server", CPU_S)
    return await startup.serve(server)


compose_post_service = make_program("compose-post-service", main)
