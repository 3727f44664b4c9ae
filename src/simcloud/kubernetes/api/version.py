"""The Kubernetes version of the cluster, as ``/version`` returns it."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.objects import Object

VERSION: Final[Object] = {
    "major": "1",
    "minor": "36",
    "emulationMajor": "1",
    "emulationMinor": "36",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "35",
    "gitVersion": "v1.36.4",
    "gitCommit": "bb826b1d48562f110659e64e8ec444327433db95",
    "gitTreeState": "clean",
    "buildDate": "2026-08-20T03:06:27Z",
    "goVersion": "go1.27.3",
    "compiler": "gc",
    "platform": "linux/amd64",
}
