"""An agent whose tools fail in the ways that tools fail."""

import os
import time

from google.adk.agents import Agent


def fetch(url: str) -> str:
    """Fetch a page.

    Args:
        url: Where it is.
    """
    raise ConnectionError(f"{url} answered 503")


def sleep(seconds: int) -> str:
    """Block for a while, as careless tools do.

    Args:
        seconds: How long.
    """
    time.sleep(seconds)
    return "slept"


def crash() -> str:
    """Take the whole process down."""
    os._exit(7)


root_agent = Agent(
    name="fragile",
    model="gemini-2.5-flash",
    description="Fails on demand.",
    instruction="You test what happens when tools fail.",
    tools=[fetch, sleep, crash],
)
