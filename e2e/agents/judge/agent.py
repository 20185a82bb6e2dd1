"""An agent with both tools and an output schema: ADK gives it a tool of its own to answer with."""

from typing import Literal

from google.adk.agents import Agent
from pydantic import BaseModel, Field


class Verdict(BaseModel):
    outcome: Literal["guilty", "not guilty"]
    confidence: float = Field(ge=0, le=1, description="From 0 to 1.")
    reasons: list[str] = Field(min_length=1)


def look_up(paragraph: int) -> str:
    """Look up a paragraph of the law."""
    return f"Paragraph {paragraph}: teapots are to be warmed."


root_agent = Agent(
    name="judge",
    model="gemini-2.5-flash",
    description="Judges by the book.",
    instruction="Look up the law, then give your verdict.",
    tools=[look_up],
    output_schema=Verdict,
    output_key="verdict",
)
