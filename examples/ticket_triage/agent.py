"""Sorts the tickets of a help desk.

Shows structured input and output: the query is a form made from `Ticket`, and the final answer is a
form made from `Triage`, checked against its schema before the agent sees it.
"""

from __future__ import annotations

from enum import StrEnum

from google.adk.agents import Agent
from pydantic import BaseModel, Field


class Channel(StrEnum):
    """How a ticket came in."""

    mail = "mail"
    phone = "phone"
    chat = "chat"


class Customer(BaseModel):
    """Who wrote a ticket."""

    name: str
    plan: str = Field(default="free", description="free, team or enterprise")


class Ticket(BaseModel):
    """A ticket as it came in."""

    subject: str = Field(min_length=1, description="The subject line")
    body: str = Field(description="What the customer wrote")
    channel: Channel = Channel.mail
    customer: Customer
    attachments: list[str] = Field(default_factory=list, description="Names of attached files")


class Urgency(StrEnum):
    """How soon somebody must look at a ticket."""

    now = "now"
    today = "today"
    this_week = "this_week"


class Triage(BaseModel):
    """What is to be done with a ticket."""

    team: str = Field(description="billing, login, data or sales")
    urgency: Urgency
    summary: str = Field(max_length=200, description="One sentence for the team")
    is_angry: bool = Field(default=False, description="Whether the customer is upset")
    tags: list[str] = Field(default_factory=list, max_length=5)


root_agent = Agent(
    name="ticket_triage",
    model="gemini-2.5-flash",
    description="Decides which team looks at a ticket, and how soon.",
    instruction=(
        "Sort the ticket. Teams: `billing` for invoices and refunds, `login` for accounts and"
        " passwords, `data` for imports and exports, `sales` for everything about plans. Whoever"
        " cannot log in or has lost data is urgent `now`; enterprise customers are urgent `today`"
        " at least. Judge the tone, not the punctuation."
    ),
    input_schema=Ticket,
    output_schema=Triage,
)
