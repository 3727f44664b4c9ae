"""Which server, credentials and context a kubeconfig stands for, and what is said if it cannot be used."""

from __future__ import annotations

import sys
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
import yaml

from aiopslab.cloud.kubernetes.kubeconfig import NoAccess, read_access


def write(folder: Path, user: dict[str, Any], **cluster: Any) -> Path:
    """A kubeconfig with the contexts ``one``, the current one, and ``two``."""
    path = folder / "config"
    document = {
        "current-context": "one",
        "contexts": [
            {"name": name, "context": {"cluster": "there", "user": "me"}} for name in ("one", "two")
        ],
        "clusters": [{"name": "there", "cluster": {"server": "http://127.0.0.1:1/", **cluster}}],
        "users": [{"name": "me", "user": user}],
    }
    path.write_text(yaml.safe_dump(document))
    return path


def test_a_token_is_sent_to_the_server_of_the_current_context(tmp_path: Path) -> None:
    access = read_access(write(tmp_path, {"token": "abc"}))
    assert (access.server, access.context) == ("http://127.0.0.1:1", "one")
    assert access.headers == {"Authorization": "Bearer abc"}


def test_another_context_is_the_current_one_for_kubectl(tmp_path: Path) -> None:
    access = read_access(write(tmp_path, {"token": "abc"}), "two")
    assert yaml.safe_load(access.kubeconfig)["current-context"] == "two"


def test_files_are_found_from_any_folder(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from a file\n")
    access = read_access(write(tmp_path, {"tokenFile": "token"}))
    assert access.headers == {"Authorization": "Bearer from a file"}
    (user,) = yaml.safe_load(access.kubeconfig)["users"]
    assert user["user"]["tokenFile"] == str(tmp_path / "token")


def test_a_credential_plugin_is_asked(tmp_path: Path) -> None:
    said = "import json; print(json.dumps({'status': {'token': 'from a plugin'}}))"
    access = read_access(write(tmp_path, {"exec": {"command": sys.executable, "args": ["-c", said]}}))
    assert access.headers == {"Authorization": "Bearer from a plugin"}


def test_a_password_is_sent_encoded(tmp_path: Path) -> None:
    access = read_access(write(tmp_path, {"username": "me", "password": "secret"}))
    assert access.headers == {"Authorization": f"Basic {b64encode(b'me:secret').decode()}"}


@pytest.mark.parametrize(
    ("text", "context", "why"),
    [
        ("[]", None, "is not a kubeconfig"),
        ("\x00", None, "is not a kubeconfig"),
        ("current-context: gone", None, "has no context 'gone'"),
        ("{}", "mine", "has no context 'mine'. Choose one with --context; it has: none."),
    ],
)
def test_what_cannot_be_used_is_said_in_one_sentence(
    tmp_path: Path, text: str, context: str | None, why: str
) -> None:
    path = tmp_path / "config"
    path.write_text(text)
    with pytest.raises(NoAccess, match=why):
        read_access(path, context)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(NoAccess, match=f"{tmp_path}/none cannot be read"):
        read_access(tmp_path / "none")


def test_a_plugin_that_fails_is_named(tmp_path: Path) -> None:
    with pytest.raises(NoAccess, match="The credential plugin /bin/false"):
        read_access(write(tmp_path, {"exec": {"command": "/bin/false"}}))
