"""An agent in a program of your own, with a person in the model's seat.

Start Hotseat in one terminal (`hotseat web`) and this in another (`python main.py`). The program
prints the address of its session; open it and answer.
"""

import asyncio

from google.adk.agents import Agent
from google.adk.apps import App
from google.adk.runners import InMemoryRunner
from hotseat.adk import HotseatPlugin


def roll(sides: int = 6) -> int:
    """Roll a die.

    Args:
        sides: How many sides it has.
    """
    import random

    return random.randint(1, sides)


root_agent = Agent(
    name="dice_agent",
    model="gemini-2.5-flash",
    instruction="Roll dice for the user and say who won.",
    tools=[roll],
)

# The plugin is the only thing that a program needs to know of Hotseat.
app = App(name="dice", root_agent=root_agent, plugins=[HotseatPlugin()])

if __name__ == "__main__":
    runner = InMemoryRunner(app=app)
    asyncio.run(runner.run_debug("You and me, one die each. Who wins?"))
