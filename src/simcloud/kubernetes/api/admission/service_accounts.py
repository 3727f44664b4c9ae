"""ServiceAccount: set the service account of a pod and mount its token.

Not implemented: the deprecated annotation that limits the Secrets which pods of an account may name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simcloud.kubernetes.api.admission.plugin import MIRROR, PODS, Quiet, creates, make_refusal
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.store import Key

if TYPE_CHECKING:
    from simcloud.kubernetes.api.context import Write

TOKEN_PATH: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
TOKEN_LIFE_S: Final = 3607
"""An hour and seven seconds, by which the server knows tokens that it may keep alive longer."""
ROOT_CA: Final = "kube-root-ca.crt"
_VOLUME_PREFIX: Final = "kube-api-access-"


class ServiceAccounts(Quiet):
    """Gives a pod its account, the account's pull secrets and its token."""

    resources = (PODS,)

    def admit(self, write: Write) -> None:
        if not creates(write, PODS):
            return
        pod, spec = write.new, write.new["spec"]
        if MIRROR in (pod["metadata"].get("annotations") or {}):
            _check_mirror(write, spec)
            return
        name = spec.get("serviceAccountName") or "default"
        spec["serviceAccountName"] = spec["serviceAccount"] = name
        account = self._account(write, name)
        if _automounts(account, spec):
            _mount_token(write, spec)
        if not spec.get("imagePullSecrets") and account.get("imagePullSecrets"):
            spec["imagePullSecrets"] = [{"name": secret["name"]} for secret in account["imagePullSecrets"]]

    def _account(self, write: Write, name: str) -> Object:
        namespace = write.key.namespace
        found = write.api.log.get(Key("", "serviceaccounts", namespace, name))
        if found is None:
            raise make_refusal(
                write,
                f'error looking up service account {namespace}/{name}: serviceaccount "{name}" not found',
            )
        return found


def _check_mirror(write: Write, spec: Object) -> None:
    if spec.get("serviceAccountName"):
        raise make_refusal(write, "a mirror pod may not reference service accounts")
    for volume in spec.get("volumes") or ():
        if "secret" in volume:
            raise make_refusal(write, "a mirror pod may not reference secrets")
        if any("serviceAccountToken" in source for source in at(volume, "projected", "sources") or ()):
            raise make_refusal(write, "a mirror pod may not use ServiceAccountToken volume projections")


def _automounts(account: Object, spec: Object) -> bool:
    """The pod's own wish counts before the account's; who says nothing wants the token."""
    for holder in (spec, account):
        wish = holder.get("automountServiceAccountToken")
        if wish is not None:
            return bool(wish)
    return True


def _mount_token(write: Write, spec: Object) -> None:
    volumes = spec.get("volumes") or []
    name = next(filter(lambda one: one.startswith(_VOLUME_PREFIX), map(_name, volumes)), "")
    known = bool(name)
    lacking = [
        container
        for part in ("initContainers", "containers")
        for container in spec.get(part) or ()
        if not any(mount.get("mountPath") == TOKEN_PATH for mount in container.get("volumeMounts") or ())
    ]
    if not lacking:
        return
    name = name or _VOLUME_PREFIX + write.api.new_suffix()
    for container in lacking:
        mounts = container.get("volumeMounts") or []
        container["volumeMounts"] = [*mounts, {"name": name, "readOnly": True, "mountPath": TOKEN_PATH}]
    if not known:
        spec["volumes"] = [*volumes, _token_volume(name)]


def _name(volume: Object) -> str:
    return str(volume.get("name", ""))


def _token_volume(name: str) -> Object:
    field = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    return {
        "name": name,
        "projected": {
            "sources": [
                {"serviceAccountToken": {"expirationSeconds": TOKEN_LIFE_S, "path": "token"}},
                {"configMap": {"name": ROOT_CA, "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": field}]}},
            ],
            "defaultMode": 420,
        },
    }
