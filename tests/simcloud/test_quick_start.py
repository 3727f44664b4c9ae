"""The code in simcloud's README runs as it stands, and without the product."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from simcloud.testing import serve_cluster

ROOT = Path(__file__).parents[2]
README = (ROOT / "src/simcloud/README.md").read_text()
SCRIPT, TEST_MODULE = re.findall(r"^```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
TIMEOUT_S = 300.0
NO_PRODUCT = """
import sys
assert not [name for name in sys.modules if name.partition(".")[0] == "aiopslab"]
"""


def run_python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def test_the_script_lists_nodes_and_does_not_import_the_product(tmp_path: Path) -> None:
    result = run_python(tmp_path, "-c", SCRIPT + NO_PRODUCT)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "['kind-control-plane', 'kind-worker', 'kind-worker2']\n"


def test_the_fixture_serves_a_test_without_the_product(tmp_path: Path) -> None:
    check = "\n\ndef test_the_product_is_not_imported():\n" + re.sub("^(?=.)", "    ", NO_PRODUCT, flags=re.M)
    (tmp_path / "test_readme.py").write_text(TEST_MODULE + check)
    result = run_python(tmp_path, "-m", "pytest", "-p", "no:cacheprovider", "-q")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "2 passed" in result.stdout


def test_the_plugin_imports_nothing_of_the_cloud_until_it_is_used(tmp_path: Path) -> None:
    code = "import sys, simcloud.pytest_plugin; print(sorted(name for name in sys.modules if 'simcloud.' in name))"
    result = run_python(tmp_path, "-c", code)
    assert result.stdout == "['simcloud.pytest_plugin']\n", result.stderr


def test_an_error_in_the_block_stops_the_server_and_deletes_the_kubeconfig() -> None:
    with pytest.raises(ZeroDivisionError), serve_cluster() as cluster:
        assert cluster.kubeconfig.exists()
        assert cluster.token in cluster.kubeconfig.read_text()
        assert cluster.url in cluster.kubeconfig.read_text()
        raise ZeroDivisionError
    assert not cluster.kubeconfig.exists()
