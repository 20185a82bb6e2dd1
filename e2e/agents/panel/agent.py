"""Three agents that are asked at once."""

from google.adk.agents import Agent, ParallelAgent


def taste(tea: str) -> str:
    """Taste a tea."""
    return f"{tea} tastes of rain"


root_agent = ParallelAgent(
    name="panel",
    description="Three opinions on one tea.",
    sub_agents=[
        Agent(
            name=name,
            model="gemini-2.5-flash",
            description=f"The {name}.",
            instruction=f"You are the {name}. Say what you think of the tea.",
            tools=[taste],
        )
        for name in ("grower", "merchant", "critic")
    ],
)
