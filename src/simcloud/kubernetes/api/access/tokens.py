"""Bearer tokens: the administrator's, and the signed tokens of service accounts.

The token of a service account is a JSON Web Token, signed with a key of the cluster (HMAC-SHA256 instead of RSA, so
that the same cluster gives the same bytes). It names the account and the objects it is bound to, and is valid only
while all of them exist. Time and random values are passed in by the caller.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from simcloud.golang import quote
from simcloud.kubernetes.api.access.users import User, service_account_name, service_account_user
from simcloud.kubernetes.api.errors import quote_list
from simcloud.kubernetes.api.objects import Object, at, name_of, namespace_of

DEFAULT_ISSUER = "https://kubernetes.default.svc.cluster.local"
_LEEWAY_S = 60
"""How far clocks may differ before a token counts as expired, or as not yet valid."""
_LONGEST_TOKEN_BYTES = 64 * 1024
_EXTRA_PREFIX = "authentication.kubernetes.io/"
NODE_NAME_KEY = f"{_EXTRA_PREFIX}node-name"
"""Where a user's extra tells the node that a bound token was made for."""


class ObjectReader(Protocol):
    """Where the objects that a token speaks of are looked up."""

    def get(self, plural: str, namespace: str, name: str) -> Object | None:
        """A service account, pod, secret or node; the namespace is empty for nodes."""
        ...


class TokenError(Exception):
    """Why a token is refused, in the API server's words. For the log and for TokenReview."""


class Bound(Struct, frozen=True):
    """The objects whose end is the end of a token."""

    pod: Object | None = None
    node: Object | None = None
    secret: Object | None = None


class Tokens:
    """Issues and checks the tokens of one cluster.

    ``static`` maps tokens that never expire to their users; ``key`` signs the others.
    """

    def __init__(
        self,
        key: bytes,
        reader: ObjectReader,
        static: Mapping[str, User] | None = None,
        issuer: str = DEFAULT_ISSUER,
    ) -> None:
        self.issuer = issuer
        self.audiences = (issuer,)
        self._key = key
        self._reader = reader
        self._static = {_digest(token.encode()): user for token, user in (static or {}).items()}
        identity = base64.urlsafe_b64encode(hashlib.sha256(key).digest()).decode().rstrip("=")
        self._header = _encode_part({"alg": "HS256", "kid": identity})

    def accept(self, token: str, user: User) -> None:
        """From now on this token, which never expires, speaks for a user."""
        self._static[_digest(token.encode())] = user

    def issue(
        self,
        account: Object,
        *,
        now_s: float,
        expires_s: int,
        token_id: str,
        audiences: Sequence[str] = (),
        bound: Bound | None = None,
        warn_after_s: int = 0,
    ) -> str:
        """A token for a service account, good for ``expires_s`` seconds from now."""
        now = int(now_s)
        namespace, name = namespace_of(account), name_of(account)
        binding = bound or Bound()
        kubernetes: Object = {"namespace": namespace}
        for part, obj in (("node", binding.node), ("pod", binding.pod), ("secret", binding.secret)):
            if obj is not None:
                kubernetes[part] = _reference(obj)
        kubernetes["serviceaccount"] = _reference(account)
        if warn_after_s:
            kubernetes["warnafter"] = now + warn_after_s
        claims = {
            "aud": list(audiences or self.audiences),
            "exp": now + expires_s,
            "iat": now,
            "iss": self.issuer,
            "jti": token_id,
            "kubernetes.io": kubernetes,
            "nbf": now,
            "sub": service_account_name(namespace, name),
        }
        signed = f"{self._header}.{_encode_part(claims)}"
        return f"{signed}.{self._signature(signed)}"

    def authenticate(self, token: str, now_s: float, audiences: Sequence[str] = ()) -> User | None:
        """Whose token this is; None where it proves nothing."""
        try:
            user, _ = self.verify(token, now_s, audiences)
        except TokenError:
            return None
        return user

    def verify(self, token: str, now_s: float, audiences: Sequence[str] = ()) -> tuple[User, list[str]]:
        """Whose token this is, and for which of the audiences asked for. TokenError says what is wrong."""
        wanted = tuple(audiences) or self.audiences
        known = self._static.get(_digest(token.encode("utf-8", "surrogatepass")))
        if known is not None:
            shared = [audience for audience in wanted if audience in self.audiences]
            if not shared:
                raise TokenError("invalid bearer token")
            return known, shared
        claims = self._claims(token)
        if claims is None or claims.get("iss") != self.issuer:
            raise TokenError("invalid bearer token")
        try:
            shared = _intersect_audiences(claims, wanted)
            _check_times(claims, now_s)
            return self._account(claims), shared
        except TokenError as error:
            raise TokenError(f"[invalid bearer token, {error}]") from None

    def _signature(self, signed: str) -> str:
        return _encode_unpadded(hmac.new(self._key, signed.encode(), hashlib.sha256).digest())

    def _claims(self, token: str) -> dict[str, Any] | None:
        """The claims of a token that this cluster signed; None for anything else."""
        if len(token) > _LONGEST_TOKEN_BYTES or not token.isascii():
            return None
        signed, _, signature = token.rpartition(".")
        if not hmac.compare_digest(self._signature(signed), signature):
            return None
        try:
            payload = signed.partition(".")[2]
            claims = msgspec.json.decode(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        except (binascii.Error, msgspec.DecodeError):
            return None
        return claims if isinstance(claims, dict) else None

    def _account(self, claims: dict[str, Any]) -> User:
        claim = claims["kubernetes.io"]
        namespace, account = claim["namespace"], claim["serviceaccount"]
        found = self._reader.get("serviceaccounts", namespace, account["name"])
        if found is None:
            raise TokenError(f"serviceaccounts {quote(account['name'])} not found")
        if found["metadata"].get("uid", "") != account["uid"]:
            uid = found["metadata"].get("uid", "")
            raise TokenError(f"service account UID ({uid}) does not match claim ({account['uid']})")
        self._check_bound(claim, namespace, "secret", "secrets")
        self._check_bound(claim, namespace, "pod", "pods")
        if "pod" not in claim:
            self._check_bound(claim, "", "node", "nodes")
        extra = {f"{_EXTRA_PREFIX}credential-id": (f"JTI={claims['jti']}",)}
        for part in ("node", "pod"):
            if part in claim:
                extra[f"{_EXTRA_PREFIX}{part}-name"] = (claim[part]["name"],)
                if claim[part].get("uid"):
                    extra[f"{_EXTRA_PREFIX}{part}-uid"] = (claim[part]["uid"],)
        return service_account_user(namespace, account["name"], account["uid"], extra)

    def _check_bound(self, claim: Object, namespace: str, part: str, plural: str) -> None:
        """A token dies with what it is bound to."""
        reference = claim.get(part)
        if reference is None:
            return
        found = self._reader.get(plural, namespace, reference["name"])
        if found is None:
            raise TokenError("service account token has been invalidated")
        uid = at(found, "metadata", "uid", default="")
        if uid != reference.get("uid", ""):
            raise TokenError(
                f"{part} UID ({uid}) does not match service account {part} ref claim ({reference.get('uid', '')})"
            )


def _intersect_audiences(claims: dict[str, Any], wanted: Iterable[str]) -> list[str]:
    shared = [audience for audience in wanted if audience in claims["aud"]]
    if not shared:
        raise TokenError(
            f"token audiences {quote_list(claims['aud'])} is invalid "
            f"for the target audiences {quote_list(wanted)}"
        )
    return shared


def _check_times(claims: dict[str, Any], now_s: float) -> None:
    if now_s - _LEEWAY_S > claims["exp"]:
        raise TokenError("service account token has expired")
    if now_s + _LEEWAY_S < claims["nbf"]:
        raise TokenError("service account token is not valid yet")


def _reference(obj: Object) -> Object:
    uid = obj["metadata"].get("uid", "")
    return {"name": name_of(obj), "uid": uid} if uid else {"name": name_of(obj)}


def _encode_part(value: Object) -> str:
    return _encode_unpadded(msgspec.json.encode(value))


def _encode_unpadded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _digest(token: bytes) -> bytes:
    """Static tokens are looked up by digest, so that the time of a miss tells nothing of a hit."""
    return hashlib.sha256(token).digest()
