"""Make the data files of ``kubernetes/api/data``: what kinds Kubernetes has and how they look.

Run once per Kubernetes version; the results are kept in the repository:

    python scripts/make_kubernetes_data.py DISCOVERY_DIR

* ``definitions.json.gz``: every type with its fields, descriptions, merge keys and list types, from
  the PyPI package kubernetes-validate (Apache-2.0, see ``NOTICE`` beside the file);
* ``resources.json``: every resource with its verbs, short names and subresources, from the two
  aggregated discovery documents of a running API server in DISCOVERY_DIR.
"""

from __future__ import annotations

import gzip
import importlib.resources
import json
import sys
from pathlib import Path
from typing import Any

VERSION = "1.36.0"
DATA = Path(__file__).parent.parent / "src" / "simcloud" / "kubernetes" / "api" / "data"


def definitions() -> dict[str, Any]:
    """The types, without what only a JSON Schema validator needs."""
    package = importlib.resources.files("kubernetes_validate")
    source = package / "kubernetes-json-schema" / f"v{VERSION}-local" / "_definitions.json"
    loaded: dict[str, Any] = json.loads(source.read_text())["$defs"]
    return {name: _tidy(definition) for name, definition in sorted(loaded.items())}


def _tidy(node: Any) -> Any:
    """References by bare name; ``["string", "null"]`` is a string; one-valued enums are no news."""
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    tidied = {key: _tidy(value) for key, value in node.items() if key != "$schema"}
    if isinstance(tidied.get("$ref"), str):
        tidied["$ref"] = tidied["$ref"].rpartition("/")[2]
    if isinstance(tidied.get("type"), list):
        tidied["type"] = next(one for one in tidied["type"] if one != "null")
    if len(tidied.get("enum", ())) == 1:
        del tidied["enum"]
    return tidied


def resources(discovery: Path) -> list[dict[str, Any]]:
    """All groups in the order of discovery, the core group first."""
    core = json.loads((discovery / "aggregated_api_v2.json").read_text())["items"]
    named = json.loads((discovery / "aggregated_apis_v2.json").read_text())["items"]
    return [
        {"group": item["metadata"].get("name", ""), "versions": [_version(one) for one in item["versions"]]}
        for item in core + named
    ]


def _version(served: dict[str, Any]) -> dict[str, Any]:
    return {"version": served["version"], "resources": served["resources"]}


def main() -> None:
    """Write both files."""
    packed = json.dumps(definitions(), separators=(",", ":"), ensure_ascii=False).encode()
    (DATA / "definitions.json.gz").write_bytes(gzip.compress(packed, 9, mtime=0))
    told = json.dumps(resources(Path(sys.argv[1])), indent=1)
    (DATA / "resources.json").write_text(told + "\n")


if __name__ == "__main__":
    main()
