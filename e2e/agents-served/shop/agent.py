"""An ADK agent whose model is behind OpenAI's wire format and streams.

What the scripted provider of the tests says arrives piece by piece, as from a real model, so that a
test can look at what happens in the middle of an answer.
"""

import json
import os

import httpx
from google.adk.agents import Agent
from google.adk.models import BaseLlm, LlmResponse
from google.genai import types


class Wire(BaseLlm):
    """Asks the server at OPENAI_BASE_URL."""

    async def generate_content_async(self, llm_request, stream=False):
        body = {"model": self.model, "stream": True, "messages": messages(llm_request)}
        if tools := declared(llm_request):
            body["tools"] = tools
        text, calls = "", []
        url = f"{os.environ['OPENAI_BASE_URL']}/chat/completions"
        async with (
            httpx.AsyncClient(timeout=60, trust_env=False) as client,
            client.stream("POST", url, json=body) as answer,
        ):
            answer.raise_for_status()
            async for line in answer.aiter_lines():
                if not line.startswith("data: {"):
                    continue
                delta = json.loads(line.removeprefix("data: "))["choices"][0]["delta"]
                calls += delta.get("tool_calls", [])
                if piece := delta.get("content"):
                    text += piece
                    if stream:
                        yield LlmResponse(content=content([types.Part(text=piece)]), partial=True)
        parts = [types.Part(text=text)] if text else []
        yield LlmResponse(content=content(parts + [called(call) for call in calls]))


def content(parts):
    return types.Content(role="model", parts=parts)


def called(call):
    function = call["function"]
    args = json.loads(function["arguments"])
    return types.Part(
        function_call=types.FunctionCall(id=call["id"], name=function["name"], args=args)
    )


def declared(llm_request):
    tools = llm_request.config.tools or []
    functions = [each for tool in tools for each in tool.function_declarations or []]
    return [
        {"type": "function", "function": each.model_dump(exclude_none=True, mode="json")}
        for each in functions
    ]


def messages(llm_request):
    found = [{"role": "system", "content": str(llm_request.config.system_instruction)}]
    for each in llm_request.contents:
        for part in each.parts:
            if part.function_call:
                call = {"name": part.function_call.name, "arguments": part.function_call.args}
                found.append({"role": "assistant", "tool_calls": [call]})
            elif part.function_response:
                result = part.function_response
                answer = json.dumps(result.response)
                found.append({"role": "tool", "tool_call_id": result.id, "content": answer})
            elif part.text:
                role = "assistant" if each.role == "model" else "user"
                found.append({"role": role, "content": part.text})
    return found


root_agent = Agent(name="shop", model=Wire(model="scripted"), instruction="You sell tea.")
