"""Repairs of faults of the Ingress through which users enter."""

from __future__ import annotations

from tests.repairs.table import Repairs

K = "kubectl -n {ns}"
GET = f"{K} get ingress {{t}} -o json"
BARE = "del(.metadata.uid, .metadata.resourceVersion, .metadata.creationTimestamp, .metadata.annotations, .status)"
RULE = ".spec.rules[0]"
PATH = f"{RULE}.http.paths[0]"
PORT = f"$({K} get service {{t}} -o jsonpath={{.spec.ports[0].port}})"


def patch(path: str, value: str) -> str:
    """Return the line that replaces a field of the Ingress; ``value`` is JSON."""
    return f'{K} patch ingress {{t}} --type=json -p \'[{{"op":"replace","path":"{path}","value":{value}}}]\''


def mend_ingress(path: str, value: str, field: str, *wrong: str) -> Repairs:
    """Return repairs of one field of the Ingress: in place, by a file that is edited, and by an Ingress that is created again."""
    mended = f"{field} = ($value | fromjson)"
    filled = f"jq --arg value '{value}'"
    return Repairs(
        right=(
            patch(path, value),
            f"{GET} > /tmp/ingress.json; {filled} '{mended}' /tmp/ingress.json | {K} apply -f -",
            f"{GET} | {filled} '{mended} | {BARE}' > /tmp/ingress.json; {K} delete ingress {{t}}; {K} create -f /tmp/ingress.json",
        ),
        wrong=(
            "kubectl -n ingress-nginx rollout restart deployment/ingress-nginx-controller",
            f"{K} rollout restart deployment/{{t}}",
            f"{K} delete ingress {{t}}",
            *wrong,
        ),
    )


BACKEND = "/spec/rules/0/http/paths/0/backend/service"
REPAIRS = {
    "misrouted_ingress": mend_ingress(
        f"{BACKEND}/name",
        '"{t}"',
        f"{PATH}.backend.service.name",
        # A Service for the mistyped name, beside the right one.
        f"{K} expose deployment {{t}} --name={{t}}{{suffix}}",
        patch(f"{BACKEND}/name", '"{t}-v1"'),
    ),
    "wrong_ingress_class": mend_ingress(
        "/spec/ingressClassName",
        '"nginx"',
        ".spec.ingressClassName",
        patch("/spec/ingressClassName", '"default"'),
        f'{K} patch ingress {{t}} --type=json -p \'[{{"op":"remove","path":"/spec/ingressClassName"}}]\'',
        # Another class for the same controller.
        "kubectl get ingressclass nginx -o json | jq '.metadata = {name: \"{kind}\"}' | kubectl create -f -",
    ),
    "wrong_ingress_host": mend_ingress(
        "/spec/rules/0/host",
        '"{host}"',
        f"{RULE}.host",
        patch("/spec/rules/0/host", '"*.{host}"'),
        patch("/spec/tls/0/hosts/0", '"{prefix}{host}"'),
    ),
    "wrong_ingress_path": mend_ingress(
        "/spec/rules/0/http/paths/0/path",
        '"/"',
        f"{PATH}.path",
        patch("/spec/rules/0/http/paths/0/path", '"/index.html"'),
        # One path more does not serve the others.
        f"{GET} | jq '{RULE}.http.paths += [{PATH} | .path = \"/login\"]' | {K} replace -f -",
    ),
    "wrong_ingress_port": mend_ingress(
        f"{BACKEND}/port/number",
        f"'{PORT}'",
        f"{PATH}.backend.service.port.number",
        patch(f"{BACKEND}/port/number", "9999"),
        patch(f"{BACKEND}/port", '{"name":"http"}'),
    ),
    "wrong_ingress_secret": mend_ingress(
        "/spec/tls/0/secretName",
        '"{t}-tls"',
        ".spec.tls[0].secretName",
        # An empty Secret, and no certificate at all.
        f"{K} create secret generic {{t}}-tls{{suffix}}",
        f'{K} patch ingress {{t}} --type=json -p \'[{{"op":"remove","path":"/spec/tls"}}]\'',
    ),
}
