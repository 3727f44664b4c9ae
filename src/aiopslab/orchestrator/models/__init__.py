"""Language models: one small protocol, any OpenAI-compatible endpoint, a scripted model, and one that redacts secrets."""

from aiopslab.orchestrator.models.base import (
    ChatModel as ChatModel,
    Message as Message,
    ModelFailed as ModelFailed,
    NoText as NoText,
    RedactingModel as RedactingModel,
    Reply as Reply,
    ScriptedModel as ScriptedModel,
)
from aiopslab.orchestrator.models.openai import OpenAIModel as OpenAIModel
