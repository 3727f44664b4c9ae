"""Our description of all objects of a kind beside the genuine kubectl's, to the byte.

The genuine one reckons ages by the host's clock and so must ours here; which moment it looked at
lies between its start and its end, so ours is asked for many moments of that span. Where none of them
fits, a second may have passed while it described the object; so it may for ours, at any of its ages.
"""

from __future__ import annotations

import time
from difflib import unified_diff

from simcloud.kubectl.describe import describer_for
from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import qualify
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.resources import Catalogue, Resource
from tests.simcloud.kubectl.genuine import Everything, finished
from tests.simcloud.server.kubernetes.served import Served

STEP_S = 0.005
RESOURCES = sorted({qualify(one.plural, one.group) for one in Catalogue() if "list" in one.verbs})
"""Every built-in resource."""


class Ticking(float):
    """A moment that becomes the next one after so many ages were reckoned from it."""

    next_s: float
    ages: int

    def __sub__(self, other: float) -> float:
        self.ages -= 1
        return (float(self) if self.ages >= 0 else self.next_s) - other


def difference(api: Api, served: Served, name: str) -> str:
    """What the two say differently about the first such object of a resource; empty if about none."""
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
        fitting = _fitting(api, resource, obj, moments, wanted)
        if fitting is None:
            ours = described(api, resource, obj, moments[0])
            return "\n".join(unified_diff(wanted.splitlines(), ours.splitlines(), "genuine", "ours"))
        moments = moments[fitting:]
    return ""


def _fitting(api: Api, resource: Resource, obj: Object, moments: list[float], wanted: str) -> int | None:
    """Which of the moments is the first at which ours says what is wanted, a second passing meanwhile or not."""
    texts: list[str] = []
    for place, moment_s in enumerate(moments):
        texts.append(described(api, resource, obj, moment_s))
        if texts[place] == wanted:
            return place
    for place in range(len(moments) - 1):
        if texts[place] == texts[place + 1]:
            continue
        ages = 0
        while True:
            ages += 1
            moment = Ticking(moments[place])
            moment.next_s, moment.ages = moments[place + 1], ages
            if described(api, resource, obj, moment) == wanted:
                return place
            if moment.ages >= 0:
                break  # it had told all of it before the next moment came
    return None


def described(api: Api, resource: Resource, obj: Object, now_s: float) -> str:
    """One object with its events, at some time of day."""
    return finished(describer_for(resource)(Everything(api, now_s), obj, True))
