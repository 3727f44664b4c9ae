"""ConfigMaps, Secrets and ServiceAccounts."""

from __future__ import annotations

import base64

from simcloud.kubectl.describe.events import events_about, write_events, write_found
from simcloud.kubectl.describe.page import NONE, Page
from simcloud.kubectl.describe.parts import write_metadata, write_name
from simcloud.kubectl.describe.registry import Reader, describes
from simcloud.kubernetes.api import Object
from simcloud.kubernetes.api.tables import cells


@describes("", "ConfigMap")
async def describe_config_map(reader: Reader, obj: Object, show_events: bool) -> str:
    """A ConfigMap with its text. Unlike elsewhere, events that may not be read are an error."""
    page = Page()
    write_name(page, obj)
    write_metadata(page, obj)
    page.write("\nData\n====\n")
    for key, value in sorted(cells.part(obj, "data").items()):
        page.write(f"{key}:\n----\n{value}\n\n")
    page.write("\nBinaryData\n====\n")
    for key, value in sorted(cells.part(obj, "binaryData").items()):
        page.line(f"{key}: {_size(value)} bytes")
    page.line()
    if show_events:
        write_found(page, await events_about(reader, obj), reader.now_s)
    return page.text()


@describes("", "Secret")
async def describe_secret(reader: Reader, obj: Object, show_events: bool) -> str:
    """A Secret, its values kept secret but for an account's token. It has no events."""
    page, kind = Page(), cells.text(obj, "type")
    write_name(page, obj)
    write_metadata(page, obj)
    page.line()
    page.field("Type", kind)
    page.write("\nData\n====\n")
    for key, value in sorted(cells.part(obj, "data").items()):
        if key == "token" and kind == "kubernetes.io/service-account-token":
            page.field(key, base64.b64decode(value or "").decode(errors="replace"))
        else:
            page.field(key, f"{_size(value)} bytes")
    return page.text()


def _size(encoded: str | None) -> int:
    return len(base64.b64decode(encoded or ""))


@describes("", "ServiceAccount")
async def describe_service_account(reader: Reader, obj: Object, show_events: bool) -> str:
    """A ServiceAccount."""
    page = Page()
    write_name(page, obj)
    write_metadata(page, obj)
    heading = "Image pull secrets:"
    for secret in cells.items(obj, "imagePullSecrets") or [{"name": NONE}]:
        page.line(heading, cells.text(secret, "name"))
        heading = " " * len(heading)
    await write_events(page, reader, obj, show_events)
    return page.text()
