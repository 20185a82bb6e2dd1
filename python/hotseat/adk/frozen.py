"""Events that are parsed once and handed out many times, each time as an object of its own.

ADK's events are mutable models, and programs do change them, so what is kept must never be what
is handed out. Copying with `copy.deepcopy` costs almost as much as parsing again. A frozen model
is taken apart once: into the dicts that its copies begin from, and a function that puts a copy
together from them. Such a function is made for each shape (which models are inside of which, and
which of their fields are set), of which a program's events have a few dozen.

What is frozen is what would come back if the model went through JSON. A model that would come
back different, because its state holds a tuple, say, is refused.
"""

from __future__ import annotations

import datetime
import enum
import functools
import math
import types
import typing
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

# Shapes are made of what the program does, not of its data, so there are never many. Should
# there be, the events of further shapes are refused.
MAX_SHAPES = 2_000

_ATOMS = (bool, int, float, str, bytes, enum.Enum, datetime.date, datetime.time)

# What a changeable field holds, and so how it is copied.
_MODEL, _VALUE, _SET = "model", "value", "set"
EMPTY, FLAT, DEEP = "empty", "flat", "deep"
MODELS = "models"
ONE = "one"

Shape = tuple[Any, ...]
_makers: dict[Shape, tuple[Callable[..., Any], Callable[..., Any]]] = {}

# A model's own `__setattr__` checks and notes every change; its slots can be set without that.
_SLOTS = {
    "set_fields": BaseModel.__dict__["__dict__"].__set__,
    "set_names": BaseModel.__dict__["__pydantic_fields_set__"].__set__,
    "set_extra": BaseModel.__dict__["__pydantic_extra__"].__set__,
    "set_private": BaseModel.__dict__["__pydantic_private__"].__set__,
}


class NotFreezable(Exception):
    """JSON would not bring back this model as it is."""


class Frozen:
    """A model that cannot change any more."""

    __slots__ = ("fill", "make", "parts")

    def __init__(self, model: BaseModel) -> None:
        """Copies a model; raises :class:`NotFreezable`."""
        parts: list[Any] = []
        self._join(_take_apart(model, type(model), parts), parts)

    @classmethod
    def of(cls, shape: Shape, parts: list[Any]) -> Frozen:
        """A model of this shape; whoever gave the parts must not keep them."""
        made = cls.__new__(cls)
        made._join(shape, parts)
        return made

    def _join(self, shape: Shape, parts: list[Any]) -> None:
        self.make, self.fill = _makers.get(shape) or _new_makers(shape)
        self.parts = parts

    def thaw(self) -> Any:
        """A new copy."""
        return self.make(*self.parts)

    def thaw_into(self, model: Any) -> None:
        """Makes an object of the model's class, which has no fields yet, a new copy."""
        self.fill(model, *self.parts)


def _take_apart(model: Any, cls: type[BaseModel], parts: list[Any]) -> Shape:
    """Adds a model's insides to `parts` and gives its shape."""
    if type(model) is not cls or model.__pydantic_extra__ is not None:
        raise NotFreezable(type(model).__name__)
    private = model.__pydantic_private__
    if private is not None and private != private_defaults(cls):
        raise NotFreezable(type(model).__name__)  # JSON has no private attributes.
    fields = model.__dict__.copy()
    parts.append(fields)
    kinds, never_none = _changeable_fields(cls)
    inside = []
    try:
        for name in never_none:
            if fields[name] is None:
                raise NotFreezable(f"{cls.__name__}.{name}")  # JSON would bring the default.
        for name in [name for name in kinds if fields[name] is not None]:
            value = fields[name]
            kind, inner = kinds[name]
            how: Any
            if kind is _MODEL:
                how = _take_apart(value, inner, parts)
            elif value == {}:
                how = EMPTY
            elif kind is MODELS and type(value) is list and len(value) == 1:
                how = (ONE, _take_apart(value[0], inner, parts))
            elif kind is MODELS and type(value) is list:
                parts.append([_frozen_item(item, inner) for item in value])
                how = MODELS
            elif kind is _SET and type(value) is set:
                parts.append(value.copy())
                how = FLAT
            else:
                how = _take_value(value, parts)
            if how is not None:
                inside.append((name, how))
                fields[name] = None  # Every copy gets its own.
    except KeyError:
        raise NotFreezable(cls.__name__) from None
    return (cls, frozenset(model.__pydantic_fields_set__), tuple(inside))


def _frozen_item(item: Any, cls: type[BaseModel]) -> Frozen:
    if type(item) is not cls:
        raise NotFreezable(type(item).__name__)
    return Frozen(item)


def _take_value(value: Any, parts: list[Any]) -> str | None:
    kind = type(value)
    if kind is not dict and kind is not list:
        _plain(value)
        return None
    copy = _plain(value)
    parts.append(copy)
    items = copy.values() if kind is dict else copy
    return DEEP if any(type(item) in (dict, list) for item in items) else FLAT


def _plain(value: Any) -> Any:
    """A copy of a value that JSON brings back as it is."""
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return value
    if kind is dict:
        for key in value:
            if type(key) is not str:
                raise NotFreezable("a key that is no string")
        return {key: _plain(item) for key, item in value.items()}
    if kind is list:
        return [_plain(item) for item in value]
    if kind is float and math.isfinite(value):
        return value
    raise NotFreezable(kind.__name__)


def _copied(value: Any) -> Any:
    """A copy of a value that is plain."""
    if type(value) is dict:
        return {k: _copied(v) if type(v) in (dict, list) else v for k, v in value.items()}
    return [_copied(v) if type(v) in (dict, list) else v for v in value]


def _new_makers(shape: Shape) -> tuple[Callable[..., Any], Callable[..., Any]]:
    if len(_makers) >= MAX_SHAPES:
        raise NotFreezable("too many shapes")
    makers = _makers[shape] = _compile(shape)
    return makers


def _compile(shape: Shape) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A function that makes copies of a shape, and one that fills an object that is there.

    Straight code, because calls are what costs.
    """
    names: dict[str, Any] = {"new": object.__new__, "copied": _copied, **_SLOTS}
    lines: list[str] = []
    count = 0

    def constant(value: Any) -> str:
        name = f"c{len(names)}"
        names[name] = value
        return name

    def part() -> str:
        nonlocal count
        count += 1
        return f"p{count}"

    def copy(how: Any) -> str:
        if how is EMPTY:
            return "{}"
        if how is FLAT:
            return f"{part()}.copy()"
        if how is DEEP:
            return f"copied({part()})"
        if how is MODELS:
            return f"[item.make(*item.parts) for item in {part()}]"
        if how[0] is ONE:
            return f"[{inner(how[1])}]"
        return inner(how)

    def inner(shape: Shape) -> str:
        made = model(shape)
        # Before the lines that fill it, which do not need to be together.
        lines.insert(0, f"{made} = new({constant(shape[0])})")
        return made

    def model(shape: Shape) -> str:
        cls, set_names, inside = shape
        fields = part()
        made, values = f"m{fields}", f"v{fields}"
        lines.append(f"{values} = {fields}.copy()")
        lines.extend(f"{values}[{name!r}] = {copy(how)}" for name, how in inside)
        lines.append(f"set_fields({made}, {values})")
        lines.append(f"set_names({made}, {constant(set(set_names))}.copy())")
        lines.append(f"set_extra({made}, None)")
        private = private_defaults(cls)
        lines.append(f"set_private({made}, {f'{constant(private)}.copy()' if private else None})")
        return made

    made = model(shape)
    parts = ", ".join(f"p{number}" for number in range(1, count + 1))
    body = "\n    ".join(lines)
    begin = f"{made} = new({constant(shape[0])})"
    exec(f"def make({parts}):\n    {begin}\n    {body}\n    return {made}", names)
    exec(f"def fill({made}, {parts}):\n    {body}", names)
    return names["make"], names["fill"]


@functools.cache
def _changeable_fields(
    cls: type[BaseModel],
) -> tuple[dict[str, tuple[str, Any]], tuple[str, ...]]:
    """Fields that may hold something changeable, and those of them that JSON cannot make None."""
    kinds = {
        name: kind
        for name, field in cls.model_fields.items()
        if (kind := _kind(field.annotation)) is not None
    }
    fields = cls.model_fields
    return kinds, tuple(
        name for name in kinds if fields[name].is_required() or fields[name].default is not None
    )


@functools.cache
def private_defaults(cls: type[BaseModel]) -> dict[str, Any] | None:
    private = {name: field.get_default() for name, field in cls.__private_attributes__.items()}
    if any(value is not None and not isinstance(value, _ATOMS) for value in private.values()):
        raise NotFreezable(cls.__name__)
    return private or None


def _kind(annotation: Any) -> tuple[str, Any] | None:
    origin, choices = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        kinds = [_kind(choice) for choice in choices if choice is not type(None)]
        return kinds[0] if len(kinds) == 1 else (_VALUE, None) if any(kinds) else None
    if origin is list and isinstance(choices[0], type) and issubclass(choices[0], BaseModel):
        return MODELS, choices[0]
    if origin is set:
        return _SET, None
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _MODEL, annotation
    if isinstance(annotation, type) and issubclass(annotation, _ATOMS):
        return None
    return _VALUE, None
