"""An agent whose tools take what is awkward to put into a form.

Each tool answers with what it received: the Python type and the JSON of every argument, so that a
test can compare it with what was typed.
"""

from __future__ import annotations

import json
from datetime import date, datetime
from enum import Enum
from typing import Any, Literal, Optional, Union

from google.adk.agents import Agent
from google.adk.tools.base_tool import BaseTool
from google.genai import types
from pydantic import BaseModel, Field


class Colour(str, Enum):
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
    care_of: Optional[str] = None


class Order(BaseModel):
    address: Address
    lines: list[Line] = Field(min_length=1)
    note: Optional[str] = None


class Line(BaseModel):
    article: str
    count: int = Field(ge=1)
    colour: Optional[Colour] = None


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


def switches(on: bool, maybe: Optional[bool] = None, preset: bool = True) -> str:
    """Switches, one of which must be set."""
    return received(on=on, maybe=maybe, preset=preset)


def recursive(tree: Node) -> str:
    """A tree of any depth."""
    return received(tree=tree)


def union(value: Union[int, str, list[int]]) -> str:
    """A number, a text or a list of numbers."""
    return received(value=value)


def pet(animal: Union[Cat, Dog]) -> str:
    """A cat or a dog."""
    return received(animal=animal)


def nullable(must: Optional[int], may: Optional[str] = "preset") -> str:
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


def paint(colour: Colour, other: Optional[Colour] = None) -> str:
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


def tags(names: list[str], colours: Optional[list[Colour]] = None) -> str:
    """Lists of texts and of choices."""
    return received(names=names, colours=colours)


def when(day: date, moment: Optional[datetime] = None) -> str:
    """A date, and a moment."""
    return received(day=day, moment=moment)


def upload(data: bytes) -> str:
    """Bytes."""
    return received(data=data)


def nothing() -> str:
    """Takes nothing."""
    return received()


class Raising(BaseTool):
    """A tool whose declaration fails."""

    def _get_declaration(self) -> types.FunctionDeclaration:
        raise ValueError("this tool cannot be declared")

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
    ],
)
