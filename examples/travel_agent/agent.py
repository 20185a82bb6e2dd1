"""A travel desk with two colleagues and an expert on call.

Shows the two ways in which agents work together. The desk hands the conversation over to `trains`
or `hotels` (a transfer: from then on they talk to the user), and it asks the `weather` expert as if
it were a tool (an agent as a tool: it answers the desk, not the user).
"""

from __future__ import annotations

from datetime import date

from google.adk.agents import Agent
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.tool_context import ToolContext

TRAINS = {
    ("lisbon", "porto"): [("08:09", "11:18", 32.0), ("14:09", "17:18", 25.5)],
    ("porto", "lisbon"): [("09:40", "12:48", 32.0), ("16:40", "19:48", 25.5)],
    ("vienna", "venice"): [("06:25", "14:05", 59.0), ("21:27", "08:24", 79.9)],
}

HOTELS = {
    "lisbon": [("Casa do Rio", 88), ("Pensão Alegria", 54)],
    "porto": [("Douro Palace", 120), ("Quarto da Ponte", 49)],
    "venice": [("Locanda San Polo", 140)],
}

CLIMATE = {
    "lisbon": ("mild, rain in winter", [15, 16, 18, 19, 22, 26, 28, 28, 26, 23, 18, 15]),
    "porto": ("fresh, often wet", [14, 15, 17, 18, 20, 23, 25, 25, 24, 21, 17, 14]),
    "venice": ("damp winters, hot summers", [6, 8, 13, 17, 22, 26, 29, 28, 24, 18, 12, 7]),
}


def find_trains(origin: str, destination: str, day: str) -> list[dict[str, str | float]]:
    """Find trains between two cities.

    Args:
        origin: The city to start from.
        destination: The city to go to.
        day: The day of travel, as YYYY-MM-DD.

    Returns:
        The trains of that day with times and price in euros.
    """
    date.fromisoformat(day)
    trains = TRAINS.get((origin.lower(), destination.lower()), [])
    return [{"departs": start, "arrives": end, "price": price} for start, end, price in trains]


def book_train(
    origin: str, destination: str, departs: str, seats: int, tool_context: ToolContext
) -> str:
    """Book seats on a train.

    Args:
        origin: The city to start from.
        destination: The city to go to.
        departs: The time of departure, as found.
        seats: How many seats.

    Returns:
        The booking code.
    """
    known = [start for start, _, _ in TRAINS.get((origin.lower(), destination.lower()), [])]
    if departs not in known:
        raise LookupError(f"there is no train from {origin} to {destination} at {departs}")
    bookings = list(tool_context.state.get("bookings", []))
    code = f"T{len(bookings) + 1:03}"
    bookings.append({"code": code, "from": origin, "to": destination, "seats": seats})
    tool_context.state["bookings"] = bookings
    return code


def find_hotels(city: str, max_price: int = 200) -> list[dict[str, str | int]]:
    """Find hotels in a city.

    Args:
        city: The city.
        max_price: The highest price for a night, in euros.

    Returns:
        Names and prices, cheapest first.
    """
    hotels = sorted(HOTELS.get(city.lower(), []), key=lambda hotel: hotel[1])
    return [{"name": name, "price": price} for name, price in hotels if price <= max_price]


def climate(city: str, month: int) -> dict[str, str | int]:
    """Look up what the weather is usually like.

    Args:
        city: The city.
        month: The month, from 1 to 12.

    Returns:
        A description and the usual temperature by day, in degrees Celsius.
    """
    description, by_month = CLIMATE[city.lower()]
    return {"city": city, "description": description, "temperature": by_month[month - 1]}


weather = Agent(
    name="weather",
    model="gemini-2.5-flash",
    description="Says what the weather is usually like in a city in a month.",
    instruction="Look up the climate and say in one sentence what to expect and what to pack.",
    tools=[climate],
)

trains = Agent(
    name="trains",
    model="gemini-2.5-flash",
    description="Finds and books trains.",
    instruction=(
        "You find and book trains. Say what it costs before you book, and book only what the user"
        " has agreed to. What is booked so far: {bookings?}"
    ),
    tools=[find_trains, book_train],
)

hotels = Agent(
    name="hotels",
    model="gemini-2.5-flash",
    description="Finds hotels.",
    instruction="You find hotels that fit the user's budget. Ask for it if you do not know it.",
    tools=[find_hotels],
)

root_agent = Agent(
    name="travel_desk",
    model="gemini-2.5-flash",
    description="The first person a traveller talks to.",
    instruction=(
        "You are the travel desk. Hand over to `trains` for trains and to `hotels` for hotels. Ask"
        " the `weather` expert before you recommend when to go. Answer other questions yourself."
    ),
    tools=[AgentTool(weather)],
    sub_agents=[trains, hotels],
)
