"""Things that `module:attribute` can name."""

from google.adk.agents import LlmAgent
from google.adk.apps.app import App
from hotseat.adk import SimulatedAgentConfig

plain = LlmAgent(name="plain", model="gemini-2.5-flash")
app = App(name="wrapped", root_agent=LlmAgent(name="inner", model="gemini-2.5-flash"))
config = SimulatedAgentConfig(name="Named One", agent=plain, eval_set_path="traces/one.json")
everything = [app, config]
number = 7
