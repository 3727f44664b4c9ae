"""Language models: one small protocol, two APIs behind it, a scripted model, prices, and one that redacts secrets."""

from aiopslab.orchestrator.models.base import (
    CONTEXT_TOKENS as CONTEXT_TOKENS,
    ChatModel as ChatModel,
    ContextOverflow as ContextOverflow,
    Message as Message,
    ModelFailed as ModelFailed,
    NoText as NoText,
    RedactingModel as RedactingModel,
    Reply as Reply,
    Tool as Tool,
    ToolCall as ToolCall,
)
from aiopslab.orchestrator.models.scripted import ScriptedModel as ScriptedModel
from simcloud.exports import export_lazily

with export_lazily(globals()):  # they load an HTTP client
    from aiopslab.orchestrator.models.anthropic import AnthropicModel as AnthropicModel
    from aiopslab.orchestrator.models.model_names import open_model as open_model
    from aiopslab.orchestrator.models.openai import OpenAIModel as OpenAIModel
