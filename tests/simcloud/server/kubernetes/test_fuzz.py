"""Whatever is asked: the answer is well formed, what is refused leaves no trace, what is stored is sound.

``AIOPSLAB_FUZZ=10`` asks ten times as many requests, and others; a failure names the seed and the number
of the request, and shows it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from typing import Any

import pytest
import yaml

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.defaults import apply_defaults
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.schema.decoding import decode
from simcloud.kubernetes.api.store import RevisionLog
from simcloud.kubernetes.cluster import Cluster
from simcloud.server.kubernetes import protobuf
from simcloud.sim import Kernel
from tests.simcloud.kubernetes.api.frozen import FrozenDict, FrozenList, freeze
from tests.simcloud.kubernetes.bare import without_loops
from tests.simcloud.server.kubernetes.hostile import SOUND_OBJECTS, SPACE, Chance, Hostile
from tests.simcloud.server.kubernetes.in_process import TOKEN, Answer, Door

SEEDS = range(1, 5 * int(os.environ.get("AIOPSLAB_FUZZ", "1")) + 1)
REQUESTS_PER_SEED = 2_200
HASH_EVERY = 50
STOCK_EVERY = 200

FAULTS_OF_A_GENUINE_SERVER = re.compile(
    "|".join(
        (
            "resourceVersion should not be set on objects to be created",
            "Timeout: Too large resource version: [0-9]+, current: [0-9]+",
            "no endpoints available for service .*",
            "error dialing backend: .*",
            "Internal error occurred: failed calling webhook .*",
            "error trying to reach service: .*",
            "Get .*: dial tcp .*",
            # Strategic merge patches and applies whose errors the genuine server does not foresee.
            "expected a .*, but received a .*",
            "unknown patch type: .* in map: .*",
            "unable to find api field in struct .* for the json field .*",
            "map: .* does not contain declared merge key: .*",
            "list element types are not identical: .*",
            "no elements in any of the given slices",
            "cannot merge lists without merge key for type struct",
            "merging lists cannot yet be specified in the patch",
            "The order in patch list:.*",
            "runtime error: comparing uncomparable type .*",
            "failed to create typed patch object .*",
            "failed to merge config: .*",
            "failed to decode managed fields: .*",
        )
    ),
    re.DOTALL,
)
"""What may be answered with a code of 500 or more."""


yaml.representer.SafeRepresenter.add_representer(FrozenDict, yaml.representer.SafeRepresenter.represent_dict)
yaml.representer.SafeRepresenter.add_representer(FrozenList, yaml.representer.SafeRepresenter.represent_list)


class Stored(list[dict[str, Any]]):
    """What was written since it was last looked at; the log keeps the frozen form."""

    def seal(self, obj: dict[str, Any]) -> Any:
        frozen = freeze(obj)
        self.append(frozen)
        return frozen


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> Stored:
    written = Stored()
    monkeypatch.setattr(RevisionLog, "seal", staticmethod(written.seal))
    return written


def prepared(seed: int) -> Api:
    """A cluster with an object of every kind."""
    api = without_loops(Cluster(Kernel(seed)).api)
    refused = stock(api)
    assert not refused, refused
    return api


def stock(api: Api) -> list[ApiError]:
    """Make what is not there; what hostile requests have made impossible stays away."""
    refused = []
    for obj in SOUND_OBJECTS:
        resource = api.catalogue.of_kind(obj["apiVersion"], obj["kind"])
        if resource is None or "create" not in resource.verbs:
            continue
        fresh = json.loads(json.dumps(obj))
        for field in ("uid", "resourceVersion", "namespace"):
            fresh["metadata"].pop(field, None)
        if resource.kind == "Job":
            del fresh["spec"]["selector"], fresh["spec"]["template"]["metadata"]
        if api.log.get(api.key(resource, SPACE, fresh["metadata"].get("name", ""))) is None:
            try:
                api.create(resource, SPACE if resource.namespaced else "", fresh)
            except ApiError as error:
                refused.append(error)
    return refused


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_no_request_breaks_the_server(seed: int, stored: Stored, caplog: pytest.LogCaptureFixture) -> None:
    api = prepared(seed)
    door = Door(api)
    chance = Chance(seed, api.catalogue, TOKEN)
    asyncio.run(ask_all(api, door, chance, stored, caplog, seed))


async def ask_all(
    api: Api, door: Door, chance: Chance, stored: Stored, caplog: pytest.LogCaptureFixture, seed: int
) -> None:
    check_stored(api, stored)
    refused = written = 0
    for number in range(REQUESTS_PER_SEED):
        request = chance.request()
        before, digest = api.log.revision, api.log.hash() if number % HASH_EVERY == 0 else ""
        answer = await door.ask(request.method, request.target, request.body, request.headers)
        where = f"seed {seed}, request {number}: {request}\n{answer.code} {answer.body[:500]!r}"
        assert not caplog.records, f"{where}\n{caplog.text}"
        check_answer(request, answer, where)
        if answer.code >= 400:
            refused += 1
            assert api.log.revision == before, f"a refused request was written: {where}"
            assert not digest or api.log.hash() == digest, f"a refused request changed the log: {where}"
        elif api.log.revision != before:
            assert request.method in ("POST", "PUT", "PATCH", "DELETE"), where
            written += 1
        check_stored(api, stored, where)
        if number % STOCK_EVERY == 0:
            stock(api)
            check_stored(api, stored, where)
            good = await door.ask(
                "GET", "/api/v1/namespaces/default", b"", [("authorization", f"Bearer {TOKEN}")]
            )
            assert (good.code, good.json()["metadata"]["name"]) == (200, "default"), where
    assert refused > REQUESTS_PER_SEED // 4, "hardly anything was refused: the requests are too tame"
    assert written > REQUESTS_PER_SEED // 25, "hardly anything was written: the requests are too wild"


def check_answer(request: Hostile, answer: Answer, where: str) -> None:
    media = answer.header("content-type").partition(";")[0]
    if answer.code >= 500:
        assert FAULTS_OF_A_GENUINE_SERVER.fullmatch(documents(answer, media)[0]["message"]), where
    if request.method == "HEAD" or answer.code == 304:
        return
    if media == "text/plain":
        assert answer.code < 400 or answer.body == b"404 page not found\n", where
        return
    for data in documents(answer, media):
        assert isinstance(data, dict), where
        if answer.code >= 400:
            assert (data["kind"], data["apiVersion"], data["status"]) == ("Status", "v1", "Failure"), where
            assert data["code"] == answer.code, where
            assert isinstance(data["message"], str) and data["message"], where


def documents(answer: Answer, media: str) -> list[Any]:
    """An answer's body as data; a watch has one document in a line."""
    if media == "application/yaml":
        return [yaml.load(answer.body, yaml.CSafeLoader)]
    if answer.header("content-type").endswith("protobuf;stream=watch"):
        return frames(answer.body)
    if media == "application/vnd.kubernetes.protobuf":
        return [protobuf.decode(answer.body)]
    assert media == "application/json", f"an answer in {media}"
    try:
        return [json.loads(answer.body)]
    except ValueError:
        return [json.loads(line) for line in answer.body.splitlines()]


def frames(body: bytes) -> list[Any]:
    """The objects of a watch in protobuf: each event after its length, the object in its second field."""
    objects = []
    while body:
        length = int.from_bytes(body[:4], "big")
        event, body = body[4 : 4 + length], body[4 + length :]
        assert len(event) == length, "a torn frame"
        objects.append(protobuf.decode(event[event.index(b"k8s\0") :]))
    return objects


def check_stored(api: Api, stored: Stored, where: str = "") -> None:
    """What is stored is what reading it again makes of it: nothing in it is unknown, of a wrong type or lost."""
    for obj in stored:
        resource = api.catalogue.of_kind(obj["apiVersion"], obj["kind"])
        if resource is not None:
            decoded = decode(obj, resource)
            assert not decoded.problems, f"{obj}\n{where}"
            apply_defaults(resource, decoded.obj)
            assert decoded.obj == obj, f"{where}\nstored {obj}\ndecoded {decoded.obj}"
    stored.clear()
