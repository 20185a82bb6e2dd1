"""The example agent with a scripted model: it answers what the golden trace says a model should.

The script is read from the EvalSet that SCRIPT names. A model call is answered by how far its
conversation has come: the messages so far say which invocation, the results since then which step.
"""

import importlib.util
import json
import os
from pathlib import Path

from google.adk.models import BaseLlm, LlmResponse
from google.genai import types


class Scripted(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        parts = [part for content in llm_request.contents for part in content.parts]
        said = [i for i, part in enumerate(parts) if part.text and is_query(part.text)]
        invocation = conversation()[len(said) - 1]
        done = sum(1 for part in parts[said[-1] :] if part.function_response)
        uses = invocation["intermediate_data"]["tool_uses"]
        if done < len(uses):
            call = types.FunctionCall(name=uses[done]["name"], args=uses[done]["args"])
            part = types.Part(function_call=call)
        else:
            part = types.Part(text=invocation["final_response"]["parts"][0]["text"])
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def conversation():
    return json.loads(Path(os.environ["SCRIPT"]).read_text())["eval_cases"][0]["conversation"]


def is_query(text):
    return text in [step["user_content"]["parts"][0]["text"] for step in conversation()]


def example():
    path = Path(os.environ["EXAMPLE"]) / "agent.py"
    spec = importlib.util.spec_from_file_location("example_agent", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.root_agent


root_agent = example()
root_agent.model = Scripted(model="scripted")
