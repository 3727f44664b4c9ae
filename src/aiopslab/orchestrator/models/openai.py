"""Models behind any endpoint that speaks OpenAI's chat completions: OpenAI, vLLM, Ollama, OpenRouter, a gateway."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aiopslab.orchestrator.models.base import REFUSED, Message, Reply, Tool, ToolCall
from aiopslab.orchestrator.models.http_model import HttpModel, read_count
from aiopslab.orchestrator.models.transport import ConnectionFailed


class OpenAIModel(HttpModel):
    """A model at an OpenAI-compatible endpoint; only OpenAI's own needs a key."""

    provider = "openai"
    default_url = "https://api.openai.com/v1"
    key_variable = "OPENAI_API_KEY"
    url_variable = "OPENAI_BASE_URL"
    _path = "chat/completions"

    def _build_headers(self, key: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    def _build_body(self, messages: Sequence[Message], tools: Sequence[Tool]) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [_format_message(message) for message in messages],
            **self.options,
        }
        if tools:
            body["tools"] = [{"type": "function", "function": vars(tool)} for tool in tools]
        if self._stream:
            body["stream_options"] = {"include_usage": True}
        return body

    def _parse_reply(self, answer: Any) -> Reply:
        choices = answer.get("choices") if isinstance(answer, Mapping) else None
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, Mapping) else None
        if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
            return Reply("")
        refusal = _join_text(message.get("refusal"))
        is_refusal = bool(refusal) or choice.get("finish_reason") == "content_filter"
        usage = answer.get("usage")
        return Reply(
            _join_text(message.get("content")) or refusal or (REFUSED if is_refusal else ""),
            read_count(usage, "prompt_tokens"),
            read_count(usage, "completion_tokens"),
            tuple(_parse_calls(message.get("tool_calls"))),
            cached_tokens=read_count(usage, "prompt_tokens_details", "cached_tokens") or 0,
            cache_write_tokens=read_count(usage, "prompt_tokens_details", "cache_write_tokens") or 0,
            cost_usd=_read_cost(usage),
            is_refusal=is_refusal,
            native={"role": "assistant"} | {key: value for key, value in message.items() if value},
        )

    def _assemble(self, events: Iterator[dict[str, Any]]) -> Any:
        message: dict[str, Any] = {"role": "assistant"}
        calls: dict[int, dict[str, Any]] = {}
        finish_reason = usage = None
        for event in events:
            usage = event.get("usage") or usage
            choices = event.get("choices")
            choice = choices[0] if isinstance(choices, list) and choices else {}
            finish_reason = choice.get("finish_reason") or finish_reason
            for key, value in (choice.get("delta") or {}).items():
                if key == "tool_calls":
                    for part in value or ():
                        _add_call(calls, part)
                elif isinstance(value, str) and key != "role":
                    message[key] = message.get(key, "") + value
        if finish_reason is None:
            raise ConnectionFailed("the stream ended before the answer was complete")
        if calls:
            message["tool_calls"] = [calls[index] for index in sorted(calls)]
        return {"choices": [{"message": message, "finish_reason": finish_reason}], "usage": usage}


def _format_message(message: Message) -> dict[str, Any]:
    if message.native is not None:
        return dict(message.native)
    formatted: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        formatted["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id:
        formatted["tool_call_id"] = message.tool_call_id
    return formatted


def _join_text(content: Any) -> str:
    """Return the text of a message; some endpoints send it in parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    return "".join(text for text in texts if isinstance(text, str))


def _parse_calls(calls: Any) -> Iterator[ToolCall]:
    for number, call in enumerate(calls if isinstance(calls, list) else ()):
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping):
            continue
        arguments = function.get("arguments")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
        yield ToolCall(str(call.get("id") or f"call_{number}"), str(function.get("name")), text)


def _add_call(calls: dict[int, dict[str, Any]], part: Mapping[str, Any]) -> None:
    """Add a part of a tool call: its id and name come first, its arguments in pieces."""
    index = part.get("index") or 0
    if part.get("id") and calls.get(index, {}).get("id", part["id"]) != part["id"]:
        index = len(calls)  # some servers number all calls 0
    call = calls.setdefault(index, {"type": "function", "function": {"name": "", "arguments": ""}})
    for key, value in part.items():
        if key == "function":
            call["function"]["name"] += value.get("name") or ""
            call["function"]["arguments"] += value.get("arguments") or ""
        elif key != "index" and value:
            call[key] = value


def _read_cost(usage: Any) -> float | None:
    """Return the cost that OpenRouter and some gateways report."""
    cost = usage.get("cost") if isinstance(usage, Mapping) else None
    return float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None
