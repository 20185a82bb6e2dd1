"""An agent whose model says one text at once: what remains is the cost of serving it."""

from collections.abc import AsyncGenerator

from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types

TEXT = "The answer is forty-two, as it was the last time."


class OneText(BaseLlm):
    """Gives one text, when streaming in one piece before the whole of it."""

    model: str = "one-text"

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        for partial in (True, False) if stream else (False,):
            content = types.Content(role="model", parts=[types.Part(text=TEXT)])
            yield LlmResponse(content=content, partial=partial)


root_agent = LlmAgent(name="scripted", model=OneText(), instruction="Answer.")
