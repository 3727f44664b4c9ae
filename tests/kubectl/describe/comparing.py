"""Our description of all objects of a kind beside the genuine kubectl's, to the byte.

The genuine one reckons ages by the host's clock and so must ours here; which moment it looked at
lies between its start and its end, so ours is asked for many moments of that span. It may still look
at two moments for one object; that does not happen again and again.
"""

from __future__ import annotations

import time
from difflib import unified_diff

from aiopslab.cluster.api.api import Api
from aiopslab.cluster.api.errors import qualified
from aiopslab.cluster.api.objects import Object
from aiopslab.cluster.api.resources import Catalogue, Resource
from aiopslab.kubectl.describe import describer_for
from tests.kubectl.genuine import Everything, finished
from tests.server.kubernetes.served import Served

STEP_S = 0.005
TRIES = 3
RESOURCES = sorted({qualified(one.plural, one.group) for one in Catalogue() if "list" in one.verbs})
"""Every built-in resource."""


def difference(api: Api, served: Served, name: str) -> str:
    """What the two say differently about the first such object of a resource; empty if about none."""
    found = ""
    for _ in range(TRIES):
        found = _difference(api, served, name)
        if not found:
            break
    return found


def _difference(api: Api, served: Served, name: str) -> str:
    resource = Everything(api).resource(name)
    started = time.time()
    genuine = served.kubectl("describe", name, "-A", "--show-events")
    ended = time.time()
    assert genuine.exit == 0, genuine.stderr
    objects = api.list(resource, None)["items"]
    if not objects:
        return genuine.stdout
    # It describes one object after the other, so the moment only moves on.
    moments = [started + step * STEP_S for step in range(int((ended - started) / STEP_S) + 2)]
    told = genuine.stdout.split("\n\n\nName:")
    texts = [told[0], *(f"Name:{one}" for one in told[1:])]
    assert len(texts) == len(objects)
    for number, (obj, theirs) in enumerate(zip(objects, texts, strict=True)):
        wanted = theirs if number == len(texts) - 1 else f"{theirs}\n"
        while (ours := described(api, resource, obj, moments[0])) != wanted:
            moments.pop(0)
            if not moments:
                return "\n".join(unified_diff(wanted.splitlines(), ours.splitlines(), "genuine", "ours"))
    return ""


def described(api: Api, resource: Resource, obj: Object, now_s: float) -> str:
    """One object with its events, at some time of day."""
    return finished(describer_for(resource)(Everything(api, now_s), obj, True))
