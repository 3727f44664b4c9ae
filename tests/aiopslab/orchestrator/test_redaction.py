"""Keys and tokens do not reach records, wherever they stand; other words stay."""

from __future__ import annotations

from base64 import b64encode, encodebytes, urlsafe_b64encode

import pytest

from aiopslab.orchestrator.models import Message, RedactingModel, ScriptedModel, ToolCall
from aiopslab.orchestrator.redaction import BLANK, Redactor, find_secrets
from simcloud.kubernetes.host import format_kubeconfig

TOKEN = "0f3c9a5d7e2b4c6d8e1f0a3b5c7d9e2f4a6b8c0d1e3f5a7b"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJzeXN0ZW06c2VydmljZWFjY291bnQifQ.c2lnbmF0dXJlLW9mLWl0"
CONFIG = format_kubeconfig("kubernetes", "https://172.18.0.2:6443", b"", "operator", {"token": TOKEN})


def test_a_kubeconfig_is_blanked_but_for_what_is_no_secret() -> None:
    shown = Redactor().redact(CONFIG)
    assert TOKEN not in shown
    assert f"token: {BLANK}" in shown
    assert "server: https://172.18.0.2:6443" in shown


def test_a_known_secret_is_blanked_anywhere() -> None:
    shown = Redactor([TOKEN]).redact_value(
        {"steps": [{"observation": f"x{TOKEN}y", TOKEN: 1}], "args": (f"echo {TOKEN}",)}
    )
    assert shown == {"steps": [{"observation": f"x{BLANK}y", BLANK: 1}], "args": [f"echo {BLANK}"]}


def test_of_two_secrets_one_of_which_begins_like_the_other_nothing_is_left() -> None:
    assert Redactor([TOKEN[:20], TOKEN]).redact(f"<{TOKEN}>") == f"<{BLANK}>"


@pytest.mark.parametrize(
    "secret",
    [
        JWT,
        "sk-proj-abcdefghijklmnop1234",
        "ghp_0123456789abcdefghij0123",
        "AKIAABCDEFGHIJKLMNOP",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----",
        "Bearer abcdef0123456789",
        'api_key="0123456789abcdef0123"',
        '"token": "ZXlKaGJHY2lPaUpJVXpJMU5pSjk"',
        "AZURE_OPENAI_API_KEY=0123456789abcdef0123456789abcdef",
        "aws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY",
        "Authorization: Basic dXNlcjpwYXNzd29yZA==",
        "github_pat_11ABCDEFG0123456789abcdef",
        "gsk_0123456789abcdef0123456789",
        "hf_0123456789abcdef0123456789",
        "npm_0123456789abcdef0123456789",
        "xoxb-0123456789-abcdefghijkl",
        "asia0123456789ABCDEF",
        "AIzaSyA0123456789abcdefghijklmnopqrstuv",
        "BEARER\tabcdef0123456789",
    ],
)
def test_what_looks_like_a_key_is_blanked(secret: str) -> None:
    shown = Redactor().redact(f"before {secret} after")
    assert BLANK in shown
    assert shown.startswith("before ")
    assert shown.endswith(" after")
    assert secret not in shown
    assert BLANK in Redactor().redact(secret.swapcase())


@pytest.mark.parametrize(
    "harmless",
    [
        "the token is missing",
        "task-0123456789abcdef0123",
        "deployment.apps/user-service scaled",
        "invalid bearer token, Token has expired",
        "-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----",
        "eyJ.a.b",
    ],
)
def test_other_words_stay(harmless: str) -> None:
    assert Redactor(["short"]).redact(f"{harmless} short") == f"{harmless} short"


def test_the_host_s_own_keys_are_known_by_their_names() -> None:
    environ = {
        "OPENAI_API_KEY": "a" * 20,
        "HF_TOKEN": "b" * 20,
        "PATH": "/usr/bin:/bin:/sbin",
        "KEYBOARD": "c" * 20,
        "PWD": "/a/folder/of/the/host",
        "OPENAI_API_KEY_2": "d" * 20,
        "DB_PASSWORD_PROD": "e" * 20,
    }
    assert find_secrets(environ) == ("a" * 20, "b" * 20, "d" * 20, "e" * 20)


@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
def test_a_known_secret_is_blanked_inside_of_base64(before: str) -> None:
    secret = "a key of the host's own: ~~~???>>>"
    text = f"{before}{secret}, and more that stands behind it, so that it fills some lines of what is written".encode()
    for written in (b64encode(text), urlsafe_b64encode(text), encodebytes(text)):
        shown = Redactor([secret]).redact(written.decode())
        assert shown.count(BLANK) == 1
        # What may be left of it are two characters at its ends, where its bits are mixed with its neighbours'.
        assert len(written) - len(shown.replace(BLANK, "")) >= len(secret) * 8 // 6 - 2


def test_a_whole_kubeconfig_in_base64_tells_no_token() -> None:
    told = encodebytes(CONFIG.encode()).decode()
    shown = Redactor([TOKEN]).redact(told)
    assert BLANK in shown
    assert len(shown) < len(told) - len(TOKEN)


def test_a_model_that_judges_is_told_no_secrets() -> None:
    model = ScriptedModel(["fine"], name="judge-1")
    discreet = RedactingModel(model, Redactor([TOKEN]))
    assert discreet.name == "judge-1"
    assert (
        discreet.complete([Message("user", f"It printed {TOKEN} and sk-0123456789abcdef0123.")]).text
        == "fine"
    )
    assert model.asked[0][0].content == f"It printed {BLANK} and {BLANK}."


def test_a_model_sees_no_secrets_in_tool_calls_either() -> None:
    model = ScriptedModel(["fine"])
    call = ToolCall("1", "exec_shell", f'{{"command": "echo {TOKEN}"}}')
    RedactingModel(model, Redactor([TOKEN])).complete(
        [Message("assistant", "", (call,), native={"x": TOKEN})]
    )
    assert TOKEN not in repr(model.asked)
