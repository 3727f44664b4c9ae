"""CertificateSigningRequests: who asks for a certificate, and what for."""

from __future__ import annotations

import base64

from simcloud.kubectl.describe.events import write_events
from simcloud.kubectl.describe.page import Page
from simcloud.kubectl.describe.parts import write_created, write_name
from simcloud.kubectl.describe.registry import describes
from simcloud.kubectl.reader import Reader
from simcloud.kubernetes.api import durations
from simcloud.kubernetes.api.objects import Object, meta
from simcloud.kubernetes.api.tables.cells import labels, part, text
from simcloud.kubernetes.api.tables.certificates import state_of


@describes("certificates.k8s.io", "CertificateSigningRequest")
async def describe_signing_request(reader: Reader, obj: Object, show_events: bool) -> str:
    """A CertificateSigningRequest, its request read."""
    page, spec = Page(), part(obj, "spec")
    write_name(page, obj, namespace=False)
    page.field("Labels", labels(meta(obj).get("labels")))
    page.field("Annotations", labels(meta(obj).get("annotations")))
    write_created(page, obj)
    page.field("Requesting User", text(spec, "username"))
    page.optional("Signer", spec.get("signerName"))
    if spec.get("expirationSeconds") is not None:
        page.field("Requested Duration", durations.human(spec["expirationSeconds"]))
    page.field("Status", state_of(part(obj, "status")))
    # Reading certificates takes a library of eight megabytes; hardly anybody looks at one.
    from simcloud.kubectl.describe.signing_request import write_request

    write_request(page, base64.b64decode(text(spec, "request")))
    await write_events(page, reader, obj, show_events)
    return page.text()
