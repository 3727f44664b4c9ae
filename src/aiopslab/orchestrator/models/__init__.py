"""Language models: one small protocol, any OpenAI-compatible endpoint, a scripted model, and one that redacts secrets."""

from aiopslab.orchestrator.models.base import (
    ChatModel,
    Message,
    ModelFailed,
    NoText,
    RedactingModel,
    Reply,
    ScriptedModel,
)
from aiopslab.orchestrator.models.openai import OpenAIModel

__all__ = [
    "ChatModel",
    "Message",
    "ModelFailed",
    "NoText",
    "OpenAIModel",
    "RedactingModel",
    "Reply",
    "ScriptedModel",
]
