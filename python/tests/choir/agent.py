"""An agent that thinks and lets another one sing."""

from collections.abc import AsyncGenerator

from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types


class Thinker(BaseLlm):
    """Thinks before it speaks, and signs what it thought."""

    model: str = "thinker"

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Answers."""
        if "You sing." in llm_request.config.system_instruction:
            thought, answer = "La or li?", types.Part(text="La.")
        else:
            thought = "Who can sing?"
            args = {"agent_name": "singer"}
            answer = types.Part.from_function_call(name="transfer_to_agent", args=args)
        answer.thought_signature = b"signed: " + thought.encode()
        thinking = types.Part(text=thought, thought=True)
        if stream:
            content = types.Content(role="model", parts=[thinking])
            yield LlmResponse(content=content, partial=True)
        yield LlmResponse(content=types.Content(role="model", parts=[thinking, answer]))


singer = LlmAgent(name="singer", model=Thinker(), instruction="You sing.", description="Sings.")

root_agent = LlmAgent(
    name="choir", model=Thinker(), instruction="You let others sing.", sub_agents=[singer]
)
