"""Models behind Anthropic's Messages API.

The end of the system prompt and the end of the conversation are marked for the provider's prompt cache, so that each
request pays in full only for what is new.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from aiopslab.orchestrator.models.base import REFUSED, Message, Reply, Tool, ToolCall
from aiopslab.orchestrator.models.http_model import HttpModel, read_count
from aiopslab.orchestrator.models.transport import ConnectionFailed

API_VERSION: Final = "2026-10-21"
MAX_TOKENS: Final = 16_000
"""Output tokens, which a request must limit; ``options={"max_tokens": …}`` sets another limit."""
CACHED: Final = {"cache_control": {"type": "ephemeral"}}
EMPTY: Final = "(empty)"
"""Sent in place of an empty text, which the API refuses."""
_DELTAS: Final = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}

Block = dict[str, Any]


class AnthropicModel(HttpModel):
    """A Claude model."""

    provider = "anthropic"
    default_url = "https://api.anthropic.com/v1"
    key_variable = "ANTHROPIC_API_KEY"
    url_variable = "ANTHROPIC_BASE_URL"
    _path = "messages"
    _list_path = "models?limit=1000"

    @property
    def _url(self) -> str:
        url = super()._url  # Anthropic's own tools expect the variable without the version
        return url if url.endswith("/v1") else f"{url}/v1"

    def _build_headers(self, key: str) -> dict[str, str]:
        return {"anthropic-version": API_VERSION, **({"x-api-key": key} if key else {})}

    def _build_body(self, messages: Sequence[Message], tools: Sequence[Tool]) -> dict[str, Any]:
        system = "\n\n".join(message.content for message in messages if message.role == "system")
        body: dict[str, Any] = {
            "model": self.name,
            "max_tokens": MAX_TOKENS,
            "messages": _format_messages([message for message in messages if message.role != "system"]),
            **self.options,
        }
        if system:
            body["system"] = [{"type": "text", "text": system, **CACHED}]
        if tools:
            body["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
                for tool in tools
            ]
        return body

    def _parse_reply(self, answer: Any) -> Reply:
        content = answer.get("content") if isinstance(answer, Mapping) else None
        blocks = (
            [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []
        )
        usage = answer.get("usage") if isinstance(answer, Mapping) else None
        cached = read_count(usage, "cache_read_input_tokens") or 0
        written = read_count(usage, "cache_creation_input_tokens") or 0
        fresh = read_count(usage, "input_tokens")
        is_refusal = isinstance(answer, Mapping) and answer.get("stop_reason") == "refusal"
        text = "".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
        return Reply(
            text or (_explain_refusal(answer) if is_refusal else ""),
            None if fresh is None else fresh + cached + written,
            read_count(usage, "output_tokens"),
            tuple(_parse_call(block) for block in blocks if block.get("type") == "tool_use"),
            cached_tokens=cached,
            cache_write_tokens=written,
            is_refusal=is_refusal,
            native=[{key: value for key, value in block.items() if key != "raw_input"} for block in blocks],
        )

    def _assemble(self, events: Iterator[dict[str, Any]]) -> Any:
        blocks: dict[int, Block] = {}
        usage: dict[str, Any] = {}
        stop: dict[str, Any] = {"stop_reason": None}
        for event in events:
            kind = event.get("type")
            if kind == "message_start":
                usage.update(event.get("message", {}).get("usage") or {})
            elif kind == "content_block_start":
                blocks[event["index"]] = dict(event["content_block"])
            elif kind == "content_block_delta":
                _add_delta(blocks.setdefault(event["index"], {"type": "text"}), event["delta"])
            elif kind == "message_delta":
                stop.update(event.get("delta") or {})
                usage.update(event.get("usage") or {})
        if stop["stop_reason"] is None:
            raise ConnectionFailed("the stream ended before the answer was complete")
        content = [_finish_block(blocks[index]) for index in sorted(blocks)]
        return {**stop, "content": content, "usage": usage}


def _format_messages(messages: Sequence[Message]) -> list[Block]:
    """Return messages in Anthropic's form, where roles alternate and results of tools are the user's."""
    formatted: list[Block] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        if formatted and formatted[-1]["role"] == role:
            formatted[-1]["content"] += _format_content(message)
        else:
            formatted.append({"role": role, "content": _format_content(message)})
    if formatted:
        last = formatted[-1]["content"]
        last[-1] = {**last[-1], **CACHED}
    return formatted


def _format_content(message: Message) -> list[Block]:
    if message.native:
        return list(message.native)
    if message.role == "tool":
        result = message.content or EMPTY
        return [{"type": "tool_result", "tool_use_id": message.tool_call_id, "content": result}]
    blocks: list[Block] = [{"type": "text", "text": message.content}] if message.content.strip() else []
    for call in message.tool_calls:
        blocks.append(
            {"type": "tool_use", "id": call.id, "name": call.name, "input": _parse_object(call.arguments)}
        )
    return blocks or [{"type": "text", "text": EMPTY}]


def _explain_refusal(answer: Mapping[str, Any]) -> str:
    details = answer.get("stop_details")
    explanation = details.get("explanation") if isinstance(details, Mapping) else None
    return str(explanation or REFUSED)


def _parse_call(block: Mapping[str, Any]) -> ToolCall:
    written = block.get("raw_input")
    arguments = written if isinstance(written, str) else json.dumps(block.get("input") or {})
    return ToolCall(str(block.get("id")), str(block.get("name")), arguments)


def _add_delta(block: Block, delta: Mapping[str, Any]) -> None:
    kind = delta.get("type")
    if kind == "input_json_delta":
        block["raw_input"] = block.get("raw_input", "") + delta.get("partial_json", "")
    elif kind in _DELTAS:
        block[_DELTAS[kind]] = block.get(_DELTAS[kind], "") + delta.get(_DELTAS[kind], "")


def _finish_block(block: Block) -> Block:
    """Return a block with its input decoded; the text of the input is kept in case it is no JSON object."""
    return {**block, "input": _parse_object(block["raw_input"])} if block.get("raw_input") else block


def _parse_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
