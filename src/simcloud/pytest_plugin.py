"""The pytest plugin of simcloud: the fixture ``kubernetes_cluster``.

pytest imports this module at every start, so the cluster is imported only when the fixture is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from simcloud.testing import ServedCluster


@pytest.fixture
def kubernetes_cluster() -> Iterator[ServedCluster]:
    """A new cluster of one node for each test, served over HTTPS on loopback."""
    from simcloud.testing import serve_cluster

    with serve_cluster() as cluster:
        yield cluster
