"""An agent without tools."""

from google.adk.agents import Agent

root_agent = Agent(
    name="plain",
    model="gemini-2.5-flash",
    description="Only talks.",
    instruction="You have nothing but words.",
)
