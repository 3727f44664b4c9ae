"""Tokens for Secrets of type ``kubernetes.io/service-account-token``.

Users create such a Secret to get a long-lived token; accounts do not have one by default. The Secret is deleted with
its account, or if the account does not exist. A genuine token of this kind never expires; ours is valid for a hundred
years.
"""

from __future__ import annotations

import base64
from typing import Final

from simcloud.kubernetes.api.access.tokens import Bound
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.controller import Controller, NamespacedName, controller

TYPE: Final = "kubernetes.io/service-account-token"
ACCOUNT: Final = "kubernetes.io/service-account.name"
ACCOUNT_UID: Final = "kubernetes.io/service-account.uid"
LIFETIME_S: Final = 100 * 365 * 86400
PUBLISHED: Final = ("kube-system", "extension-apiserver-authentication")


@controller("tokens-controller")
class ServiceAccountTokens(Controller):
    """Fills token Secrets, and deletes those without an account."""

    def watch(self) -> None:
        self._secrets: dict[NamespacedName, dict[str, None]] = {}
        self.follow("secrets", self._see_secret)
        self.follow("serviceaccounts", self._see_account)

    def _see_secret(self, write: Revision) -> None:
        account = _account_of(write.object)
        if account is None:
            return
        names = self._secrets.setdefault(NamespacedName(write.key.namespace, account), {})
        if write.change == "DELETED":
            names.pop(write.key.name, None)
        else:
            names[write.key.name] = None
            self.enqueue(write)

    def _see_account(self, write: Revision) -> None:
        for name in self._secrets.get(NamespacedName(write.key.namespace, write.key.name), ()):
            self.queue.add(NamespacedName(write.key.namespace, name))

    def sync(self, key: NamespacedName) -> None:
        secret = self.client.get("secrets", *key)
        name = _account_of(secret) if secret is not None else None
        if secret is None or name is None:
            return
        account = self.client.get("serviceaccounts", key.namespace, name)
        known = (secret["metadata"].get("annotations") or {}).get(ACCOUNT_UID)
        if account is None or known not in (None, "", account["metadata"]["uid"]):
            self.client.delete(secret)
        elif not known or not (secret.get("data") or {}).get("token"):
            self.client.edit(secret, lambda changed: self._fill(changed, account))

    def _fill(self, secret: Object, account: Object) -> None:
        secret["metadata"].setdefault("annotations", {})[ACCOUNT_UID] = account["metadata"]["uid"]
        token = self.api.tokens.issue(
            account,
            now_s=self.api.now_s,
            expires_s=LIFETIME_S,
            token_id=self.api.new_uid(),
            bound=Bound(secret=secret),
        )
        published = self.client.get("configmaps", *PUBLISHED)
        texts = {
            "ca.crt": at(published, "data", "client-ca-file", default=""),
            "namespace": secret["metadata"]["namespace"],
            "token": token,
        }
        data = secret.get("data") or {}
        encoded = {name: base64.b64encode(text.encode()).decode() for name, text in texts.items()}
        secret["data"] = {**data, **encoded}


def _account_of(secret: Object) -> str | None:
    """The account that a token Secret is for."""
    if secret.get("type") != TYPE:
        return None
    name: str | None = (secret["metadata"].get("annotations") or {}).get(ACCOUNT)
    return name
