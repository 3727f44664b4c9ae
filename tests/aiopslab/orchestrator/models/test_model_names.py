"""Models by name, as --model takes them."""

from __future__ import annotations

import pytest

from aiopslab.orchestrator.models import AnthropicModel, ModelFailed, OpenAIModel, open_model


@pytest.mark.parametrize(
    ("spec", "kind", "name"),
    [
        ("gpt-5-mini", OpenAIModel, "gpt-5-mini"),
        ("llama3.2:3b", OpenAIModel, "llama3.2:3b"),
        ("anthropic/claude-sonnet-5-5", OpenAIModel, "anthropic/claude-sonnet-5-5"),
        ("claude-sonnet-5-5", AnthropicModel, "claude-sonnet-5-5"),
        ("openai:claude-sonnet-5-5", OpenAIModel, "claude-sonnet-5-5"),
        ("anthropic:my-model", AnthropicModel, "my-model"),
    ],
)
def test_the_name_tells_the_api(spec: str, kind: type, name: str) -> None:
    model = open_model(spec)
    assert (type(model), model.name) == (kind, name)


def test_settings_are_ours_and_the_rest_is_for_the_endpoint() -> None:
    model = open_model(
        "qwen3:8b?base_url=http://localhost:11434/v1&context_tokens=16000&stream=true&temperature=0&effort=high"
        "&stop=%5B%22x%22%5D"
    )
    assert model.settings == {
        "model": "qwen3:8b",
        "provider": "openai",
        "endpoint": "localhost:11434",
        "parameters": {"temperature": 0, "effort": "high", "stop": ["x"]},
        "stream": True,
        "context_tokens": 16_000,
    }


@pytest.mark.parametrize(
    ("spec", "address", "variables"),
    [
        ("claude-x", "api.anthropic.com:443", {"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "AIOPSLAB_PRICES"}),
        (
            "m?base_url=http://box/v1&api_key_env=MINE",
            "box:80",
            {"MINE", "OPENAI_BASE_URL", "AIOPSLAB_PRICES"},
        ),
        (
            "m?base_url=http://[::1]:8000/v1",
            "::1:8000",
            {"OPENAI_API_KEY", "OPENAI_BASE_URL", "AIOPSLAB_PRICES"},
        ),
    ],
)
def test_a_model_says_what_its_process_needs(
    spec: str, address: str, variables: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    model = open_model(spec)
    assert (model.address, set(model.variables)) == (address, variables)


def test_an_address_that_is_none_is_reported() -> None:
    with pytest.raises(ModelFailed, match="is not a URL"):
        assert open_model("m?base_url=http://box:99999/v1").address


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("openai:", "names no model"),
        ("m?retries=many", "The setting retries of a model is a whole number, not 'many'."),
        ("m?retries=1.5", "a whole number"),
        ("m?timeout_s=true", "a number"),
        ("m?timeout_s=-1", "a number"),
        ("m?stream=maybe", "true or false"),
    ],
)
def test_an_invalid_setting_is_reported_with_what_it_should_be(spec: str, sentence: str) -> None:
    with pytest.raises(ModelFailed, match=sentence):
        open_model(spec)
