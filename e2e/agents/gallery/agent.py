"""An agent whose tools take what is awkward to put into a form, and do what is awkward to show.

The first tools answer with what they received: the Python type and the JSON of every argument, so
that a test can compare it with what was typed. The others take long, save files, change the state,
tell where they run, or answer with much.
"""

from __future__ import annotations

import base64
import json
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Literal

from google.adk.agents import Agent
from google.adk.tools import LongRunningFunctionTool, ToolContext
from google.adk.tools.base_tool import BaseTool
from google.genai import types
from pydantic import BaseModel, Field


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"
    BLUE = "blue"


class Node(BaseModel):
    """A tree of names."""

    name: str
    children: list[Node] = []


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    bark: str


class Address(BaseModel):
    street: str = Field(description="Street and number.")
    postcode: str = Field(min_length=4, description="At least four characters.")
    country: Literal["NL", "BE", "DE"] = "NL"
    care_of: str | None = None


class Order(BaseModel):
    address: Address
    lines: list[Line] = Field(min_length=1)
    note: str | None = None


class Line(BaseModel):
    article: str
    count: int = Field(ge=1)
    colour: Colour | None = None


def received(**values: Any) -> str:
    """What a tool got, with Python types: the tests compare it to the letter."""
    return json.dumps({name: described(value) for name, value in values.items()}, sort_keys=True)


def described(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return {"type": type(value).__name__, "value": value.model_dump(mode="json")}
    if isinstance(value, (list, tuple)):
        return {"type": type(value).__name__, "items": [described(item) for item in value]}
    if isinstance(value, dict):
        return {"type": "dict", "entries": {key: described(item) for key, item in value.items()}}
    return {"type": type(value).__name__, "repr": repr(value)}


def numbers(whole: int, real: float, big: int = 7) -> str:
    """Numbers.

    Args:
        whole: A whole number.
        real: Any number.
        big: May be very big.
    """
    return received(whole=whole, real=real, big=big)


def texts(line: str, lines: str = "one line") -> str:
    """Text with new lines, quotes and other alphabets."""
    return received(line=line, lines=lines)


def switches(on: bool, maybe: bool | None = None, preset: bool = True) -> str:
    """Switches, one of which must be set."""
    return received(on=on, maybe=maybe, preset=preset)


def recursive(tree: Node) -> str:
    """A tree of any depth."""
    return received(tree=tree)


def union(value: int | str | list[int]) -> str:
    """A number, a text or a list of numbers."""
    return received(value=value)


def pet(animal: Cat | Dog) -> str:
    """A cat or a dog."""
    return received(animal=animal)


def nullable(must: int | None, may: str | None = "preset") -> str:
    """Null is an answer of its own."""
    return received(must=must, may=may)


def pair(point: tuple[int, str]) -> str:
    """A tuple."""
    return received(point=point)


def counts(per_word: dict[str, int]) -> str:
    """A dictionary of numbers."""
    return received(per_word=per_word)


def options(anything: dict[str, Any]) -> str:
    """A dictionary of anything."""
    return received(anything=anything)


def paint(colour: Colour, other: Colour | None = None) -> str:
    """An enum."""
    return received(colour=colour, other=other)


def level(how: Literal["low", "high"], fixed: Literal["always"] = "always") -> str:
    """Literals, one of which leaves no choice."""
    return received(how=how, fixed=fixed)


def anything(value: Any) -> str:
    """Any JSON."""
    return received(value=value)


def order(order: Order) -> str:
    """Models in models, with a list of models."""
    return received(order=order)


def tags(names: list[str], colours: list[Colour] | None = None) -> str:
    """Lists of texts and of choices."""
    return received(names=names, colours=colours)


def when(day: date, moment: datetime | None = None) -> str:
    """A date, and a moment."""
    return received(day=day, moment=moment)


def upload(data: bytes) -> str:
    """Bytes."""
    return received(data=data)


def nothing() -> str:
    """Takes nothing."""
    return received()


def ticket(title: str) -> dict[str, str]:
    """Open a ticket; somebody closes it later."""
    return {"status": "pending", "title": title}


async def draw(tool_context: ToolContext) -> str:
    """Save a picture and a text."""
    picture = types.Part.from_bytes(data=base64.b64decode(DOT), mime_type="image/png")
    await tool_context.save_artifact("dot.png", picture)
    note = types.Part.from_bytes(data=b"first", mime_type="text/plain")
    await tool_context.save_artifact("note.txt", note)
    await tool_context.save_artifact("note.txt", note)
    return "saved"


RUNS = {"count": 0}


def remember(key: str, value: str, tool_context: ToolContext) -> str:
    """Put something into the session's state."""
    RUNS["count"] += 1
    tool_context.state[key] = value
    return f"run {RUNS['count']}"


def contexts(tool_context: ToolContext) -> dict[str, Any]:
    """Tell in which contexts the tool runs."""
    invocation = tool_context._invocation_context
    return {
        "call": tool_context.function_call_id,
        "state": type(tool_context.state).__name__,
        "invocation": invocation.invocation_id,
        "session": invocation.session.id,
        "agent": invocation.agent.name,
        "said": invocation.user_content.parts[0].text,
    }


def big(megabytes: int) -> dict[str, Any]:
    """Answer with much."""
    row = {"id": 1, "name": "a row of a table", "tags": ["x", "y"], "more": "z" * 900}
    return {"rows": [row | {"id": number} for number in range(megabytes * 1000)]}


def report(kind: Literal["markdown", "json", "plain"]) -> str:
    """Answer with text that holds something."""
    if kind == "markdown":
        return "# Report\n\n* one\n* two\n\n**bold** words"
    if kind == "json":
        inner = json.dumps({"deep": json.dumps({"deeper": [1, 2, 3], "needle": "found me"})})
        return json.dumps({"inner": inner, "list": list(range(40))})
    return "plain words, nothing else"


class Raising(BaseTool):
    """A tool whose declaration fails."""

    def _get_declaration(self) -> types.FunctionDeclaration:
        raise ValueError("this tool cannot be declared")

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
        return received(**args)


class Classic(BaseTool):
    """A tool that declares a schema of google.genai, with each of its types."""

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters=CLASSIC
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
        return received(**args)


class Declared(BaseTool):
    """A tool that declares exactly the schema it is given."""

    def __init__(self, name: str, description: str, schema: dict[str, Any]) -> None:
        super().__init__(name=name, description=description)
        self.schema = schema

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=self.schema
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
        return received(**args)


DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGN4EaCFFTEMLQkAxEZYgTCu"
    "4cAAAAAASUVORK5CYII="
)

KIND, FIELD = types.Type, types.Schema
CLASSIC = FIELD(
    type=KIND.OBJECT,
    properties={
        "title": FIELD(type=KIND.STRING, description="What it is called."),
        "count": FIELD(type=KIND.INTEGER, description="How many there are."),
        "weight": FIELD(type=KIND.NUMBER, description="In kilograms."),
        "fragile": FIELD(type=KIND.BOOLEAN, description="Whether it breaks."),
        "colour": FIELD(type=KIND.STRING, enum=["red", "green"], description="What it looks like."),
        "maker": FIELD(
            type=KIND.OBJECT,
            description="Who made it.",
            properties={
                "name": FIELD(type=KIND.STRING, description="The maker's name."),
                "since": FIELD(type=KIND.INTEGER, description="The year they began."),
            },
            required=["name"],
        ),
        "marks": FIELD(
            type=KIND.ARRAY,
            description="What is written on it.",
            items=FIELD(type=KIND.STRING, description="One mark."),
        ),
    },
    required=["title", "count", "fragile", "colour", "maker", "marks"],
)

FORTY = {
    "type": "object",
    "properties": {
        f"field_{number:02}": {
            "type": ["string", "integer", "number", "boolean"][number % 4],
            "description": f"Field number {number}.",
        }
        for number in range(40)
    },
    "required": ["field_00", "field_39"],
}

SCHEMA_TREE = {
    "type": "object",
    "$defs": {
        "Rule": {
            "type": "object",
            "title": "Rule",
            "properties": {
                "field": {"type": "string"},
                "all": {"type": "array", "items": {"$ref": "#/$defs/Rule"}},
                "mode": {"$ref": "#/$defs/Mode"},
            },
            "required": ["field"],
        },
        "Mode": {"type": "string", "enum": ["equals", "contains"], "title": "Mode"},
    },
    "properties": {
        "rule": {"$ref": "#/$defs/Rule"},
        "mode": {"$ref": "#/$defs/Mode"},
        "at": {"type": "string", "format": "time"},
        "day": {"type": "string", "format": "date"},
        "moment": {"type": "string", "format": "date-time"},
        "file": {"type": "string", "contentEncoding": "base64"},
        "point": {
            "type": "array",
            "prefixItems": [{"type": "number"}, {"type": "number"}, {"type": "string"}],
            "minItems": 3,
            "maxItems": 3,
        },
        "labels": {"type": "object", "additionalProperties": {"type": "integer"}},
        "either": {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]},
        "steps": {"type": "integer", "multipleOf": 5, "minimum": 5, "default": 10},
    },
    "required": ["rule"],
    "additionalProperties": False,
}

functions = [
    numbers,
    texts,
    switches,
    recursive,
    union,
    pet,
    nullable,
    pair,
    counts,
    options,
    paint,
    level,
    anything,
    order,
    tags,
    when,
    upload,
    nothing,
]

root_agent = Agent(
    name="gallery",
    model="gemini-2.5-flash",
    description="Tools with awkward parameters.",
    instruction="You try every kind of field.",
    tools=[
        *functions,
        Declared("forty", "Forty fields.", FORTY),
        Declared("schema_tree", "Everything JSON Schema can say.", SCHEMA_TREE),
        Raising(name="raising", description="Cannot be declared."),
        Classic(name="classic", description="Declared with a schema of google.genai."),
        contexts,
        LongRunningFunctionTool(ticket),
        draw,
        remember,
        big,
        report,
    ],
)
