"""A calculator that can also look things up.

The smallest agent worth playing: four plain functions as tools, each with a form that Hotseat makes
from its signature. Try "How many seconds are there in a leap year?" with nothing but the tools.
"""

from __future__ import annotations

import json
from typing import Any, Literal
from xml.sax.saxutils import escape

from google.adk.agents import Agent

FACTS = {
    "days in a leap year": "A leap year has 366 days.",
    "hours in a day": "A day has 24 hours.",
    "seconds in an hour": "An hour has 3600 seconds.",
    "light": "Light travels 299792458 metres in a second.",
    "mile": "A mile is 1609.344 metres.",
    "marathon": "A marathon is 42195 metres long.",
    "earth": "The equator of the Earth is 40075017 metres long.",
    "moon": "The Moon is 384400000 metres away, on average.",
    "dozen": "A dozen is 12, a gross is 144.",
}


def add(a: int, b: int) -> int:
    """Add two whole numbers.

    Args:
        a: The first number.
        b: The second number.

    Returns:
        The sum of both.
    """
    return a + b


def multiply(a: int, b: int) -> int:
    """Multiply two whole numbers.

    Args:
        a: The first number.
        b: The second number.

    Returns:
        The product of both.
    """
    return a * b


def search(query: str, limit: int = 10) -> list[str]:
    """Look up facts with numbers in them.

    Args:
        query: Words to look for, such as "leap year" or "light".
        limit: How many facts to return at most.

    Returns:
        The facts that have one of the words in them, best first.
    """
    words = [word for word in query.lower().split() if len(word) > 2]
    ranked = sorted(
        FACTS.items(),
        key=lambda fact: -sum(word in f"{fact[0]} {fact[1].lower()}" for word in words),
    )
    found = [text for key, text in ranked if any(w in f"{key} {text.lower()}" for w in words)]
    return found[: max(limit, 0)]


def convert(value: str, format: Literal["json", "xml"]) -> str:
    """Write a result in the format that the user wants.

    Args:
        value: The result, as text.
        format: Either "json" or "xml".

    Returns:
        The result as a small document in that format.
    """
    document: dict[str, Any] = {"result": value}
    if format == "json":
        return json.dumps(document)
    return f"<result>{escape(value)}</result>"


root_agent = Agent(
    name="math_agent",
    model="gemini-2.5-flash",
    description="Calculates with whole numbers and looks up the facts it needs for it.",
    instruction=(
        "You calculate. Never do arithmetic in your head: use `add` and `multiply`, one step at a"
        " time, or two at once when they do not depend on each other. Use `search` for facts you"
        " need. Answer with the result and one sentence on how you got there. Use `convert` only"
        " if the user asks for JSON or XML."
    ),
    tools=[add, multiply, search, convert],
)
