"""Language models, whoever makes them: one small protocol, a scripted one, and any OpenAI-compatible endpoint."""

from aiopslab.orchestrator.models.base import ChatModel, Message, ModelFailed, NoText, Reply
from aiopslab.orchestrator.models.openai import OpenAIModel
from aiopslab.orchestrator.models.scripted import ScriptedModel

__all__ = ["ChatModel", "Message", "ModelFailed", "NoText", "OpenAIModel", "Reply", "ScriptedModel"]
