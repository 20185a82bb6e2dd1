"""An agent that says its instruction and what it was told last."""

from collections.abc import AsyncGenerator

from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types


class Parrot(BaseLlm):
    """Says its instruction and what it was told last, word by word."""

    model: str = "parrot"

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Answers."""
        parts = llm_request.contents[-1].parts
        said = " ".join(part.text or str(part.function_response.response) for part in parts)
        if said == "paint":
            call = types.Part.from_function_call(name="paint", args={"colour": "red"})
            yield LlmResponse(content=types.Content(role="model", parts=[call]))
            return
        if said == "fall":
            raise ValueError("the parrot fell off its perch")
        words = [f"{llm_request.config.system_instruction.splitlines()[0]} |", *said.split()]
        if stream:
            for word in words:
                content = types.Content(role="model", parts=[types.Part(text=word + " ")])
                yield LlmResponse(content=content, partial=True)
        text = "".join(word + " " for word in words)
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]))


root_agent = LlmAgent(
    name="parrot", model=Parrot(), instruction="You like {colour?} and {user:name?}."
)
