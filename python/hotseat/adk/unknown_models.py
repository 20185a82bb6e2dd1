"""Model names that nobody can resolve.

ADK resolves an agent's model before it asks the plugins, so an agent whose model is not installed
here, or not invented yet, would fail although a person answers for it. A model class that accepts
every name and is asked last lets such agents run. When it is really called, because the agent is
not one that Hotseat answers for, it says what is wrong.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator

from google.adk.models import registry
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.models.registry import LLMRegistry

from hotseat.errors import HotseatError

_ANY_NAME = r".+"


class UnknownModel(BaseLlm):
    """Stands for a model that no other class claims."""

    @classmethod
    def supported_models(cls) -> list[str]:
        """Every name. :func:`accept_unknown_models` sees to it that this is asked last."""
        return [_ANY_NAME]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Fails, unless LiteLLM knows the provider in the name.

        The registry asks LiteLLM only for names that no pattern matches, and ours matches all.
        """
        model = _from_litellm(self.model)
        if model is None:
            labels = (llm_request.config and llm_request.config.labels) or {}
            agent = labels.get("adk_agent_name", "")
            raise HotseatError(
                f"no model class is registered for {self.model!r}, and nobody else answers for"
                f" agent {agent!r}: install the model's package, or put a person in the seat"
                " (where HotseatPlugin(agents=…) names agents, add this one)"
            )
        async for response in model.generate_content_async(llm_request, stream):
            yield response


def accept_unknown_models() -> None:
    """Registers the class behind all others, also those registered since the last time."""
    known = getattr(registry, "_llm_registry_dict", None)
    if isinstance(known, dict):
        if known and next(reversed(known)) == _ANY_NAME:
            return
        # The registry asks in order of registration and keeps the place of a known pattern.
        known.pop(_ANY_NAME, None)
    LLMRegistry.register(UnknownModel)


def _from_litellm(name: str) -> BaseLlm | None:
    provider, slash, _ = name.partition("/")
    if not slash:
        return None
    try:
        import litellm
        from google.adk.models.lite_llm import LiteLlm
    except ImportError:
        return None
    return LiteLlm(model=name) if provider in litellm.provider_list else None
