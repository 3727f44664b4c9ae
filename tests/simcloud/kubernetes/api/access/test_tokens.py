"""Bearer tokens: who shows one is somebody, as long as it is whole, in time and its account lives."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.api.access.tokens import DEFAULT_ISSUER, Bound, TokenError, Tokens
from simcloud.kubernetes.api.access.users import SYSTEM_MASTERS, User
from tests.simcloud.kubernetes.api.access.conftest import Policy

KEY = b"0123456789abcdef0123456789abcdef"
NOW_S = 1_794_000_000.5
JTI = "0979799b-16a4-487e-974f-da931574f1da"
ACCOUNT = {"metadata": {"name": "sa1", "namespace": "demo", "uid": "u-1"}}
POD = {"metadata": {"name": "web", "namespace": "demo", "uid": "u-2"}}
NODE = {"metadata": {"name": "n1", "uid": "u-3"}}


def living(*objects: tuple[str, dict]) -> Policy:
    policy = Policy()
    for plural, obj in objects:
        policy.put(plural, obj)
    return policy


def tokens(reader: Policy | None = None) -> Tokens:
    return Tokens(KEY, reader or living(("serviceaccounts", ACCOUNT)), {"secret-of-admin": SYSTEM_MASTERS})


def issued(made: Tokens | None = None, **more: object) -> str:
    told = {"now_s": NOW_S, "expires_s": 3600, "token_id": JTI, **more}
    return (made or tokens()).issue(ACCOUNT, **told)


def claims(token: str) -> dict:
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


def refusal(made: Tokens, token: str, now_s: float = NOW_S, audiences: tuple[str, ...] = ()) -> str:
    assert made.authenticate(token, now_s, audiences) is None
    with pytest.raises(TokenError) as refused:
        made.verify(token, now_s, audiences)
    return str(refused.value)


def test_the_claims_of_a_token() -> None:
    told = claims(issued(bound=Bound(pod=POD, node=NODE), warn_after_s=3607, expires_s=31536000))
    assert told == {
        "aud": [DEFAULT_ISSUER],
        "exp": 1_794_000_000 + 31536000,
        "iat": 1_794_000_000,
        "iss": DEFAULT_ISSUER,
        "jti": JTI,
        "kubernetes.io": {
            "namespace": "demo",
            "node": {"name": "n1", "uid": "u-3"},
            "pod": {"name": "web", "uid": "u-2"},
            "serviceaccount": {"name": "sa1", "uid": "u-1"},
            "warnafter": 1_794_003_607,
        },
        "nbf": 1_794_000_000,
        "sub": "system:serviceaccount:demo:sa1",
    }


def test_the_same_request_gives_the_same_token() -> None:
    assert issued() == issued()
    assert issued() != issued(token_id="another")


def test_a_token_proves_its_account() -> None:
    user = tokens().authenticate(issued(), NOW_S + 60)
    assert user == User(
        "system:serviceaccount:demo:sa1",
        "u-1",
        ("system:serviceaccounts", "system:serviceaccounts:demo", "system:authenticated"),
        {"authentication.kubernetes.io/credential-id": (f"JTI={JTI}",)},
    )


def test_a_bound_token_tells_pod_and_node() -> None:
    made = tokens(living(("serviceaccounts", ACCOUNT), ("pods", POD)))
    user = made.authenticate(issued(made, bound=Bound(pod=POD, node=NODE)), NOW_S)
    assert user is not None
    assert user.info()["extra"] == {
        "authentication.kubernetes.io/credential-id": [f"JTI={JTI}"],
        "authentication.kubernetes.io/node-name": ["n1"],
        "authentication.kubernetes.io/node-uid": ["u-3"],
        "authentication.kubernetes.io/pod-name": ["web"],
        "authentication.kubernetes.io/pod-uid": ["u-2"],
    }


def test_the_administrators_token_is_looked_up() -> None:
    assert tokens().authenticate("secret-of-admin", NOW_S) == SYSTEM_MASTERS
    assert tokens().authenticate("secret-of-admim", NOW_S) is None
    assert refusal(tokens(), "secret-of-admin", audiences=("elsewhere",)) == "invalid bearer token"


def test_a_token_ends_with_its_time() -> None:
    expired = "[invalid bearer token, service account token has expired]"
    assert tokens().authenticate(issued(), NOW_S + 3600) is not None
    assert refusal(tokens(), issued(), NOW_S + 3700) == expired
    assert (
        refusal(tokens(), issued(), NOW_S - 100)
        == "[invalid bearer token, service account token is not valid yet]"
    )


def test_a_token_ends_with_its_account() -> None:
    reader = living(("serviceaccounts", ACCOUNT))
    made = tokens(reader)
    reader.put("serviceaccounts", {"metadata": {**ACCOUNT["metadata"], "uid": "u-9"}})
    told = "[invalid bearer token, service account UID (u-9) does not match claim (u-1)]"
    assert refusal(made, issued(made)) == told
    reader.remove("serviceaccounts", "demo", "sa1")
    assert refusal(made, issued(made)) == '[invalid bearer token, serviceaccounts "sa1" not found]'


def test_a_bound_token_ends_with_its_pod() -> None:
    reader = living(("serviceaccounts", ACCOUNT), ("pods", POD))
    made = tokens(reader)
    token = issued(made, bound=Bound(pod=POD))
    reader.put("pods", {"metadata": {**POD["metadata"], "uid": "u-9"}})
    told = "[invalid bearer token, pod UID (u-9) does not match service account pod ref claim (u-2)]"
    assert refusal(made, token) == told
    reader.remove("pods", "demo", "web")
    assert refusal(made, token) == "[invalid bearer token, service account token has been invalidated]"


def test_a_token_is_good_for_its_audiences() -> None:
    made = tokens()
    token = issued(made, audiences=("vault", "other"))
    assert refusal(made, token) == (
        '[invalid bearer token, token audiences ["vault" "other"] is invalid '
        f'for the target audiences ["{DEFAULT_ISSUER}"]]'
    )
    assert made.verify(token, NOW_S, ("x", "vault"))[1] == ["vault"]


def test_another_clusters_token_is_no_proof() -> None:
    elsewhere = Tokens(b"another key", living(("serviceaccounts", ACCOUNT)))
    assert refusal(tokens(), issued(elsewhere)) == "invalid bearer token"
    same_key = Tokens(KEY, living(("serviceaccounts", ACCOUNT)), issuer="https://elsewhere")
    assert refusal(tokens(), issued(same_key)) == "invalid bearer token"


@given(st.data())
def test_a_token_with_any_character_changed_is_refused(data: st.DataObject) -> None:
    made, token = tokens(), issued()
    place = data.draw(st.integers(0, len(token) - 1))
    character = data.draw(st.characters(codec="ascii").filter(lambda one: one != token[place]))
    assert made.authenticate(token[:place] + character + token[place + 1 :], NOW_S) is None


@given(st.text() | st.from_regex(r"[\w-]*\.[\w-]*\.[\w-]*", fullmatch=True))
def test_no_text_takes_the_check_down(text: str) -> None:
    assert tokens().authenticate(text, NOW_S) is None


@given(st.integers(0, 400))
def test_a_token_cut_short_or_lengthened_is_refused(count: int) -> None:
    token = issued()
    assert tokens().authenticate(token[: min(count, len(token) - 1)], NOW_S) is None
    assert tokens().authenticate(f"{token}{'A' * (count + 1)}", NOW_S) is None
