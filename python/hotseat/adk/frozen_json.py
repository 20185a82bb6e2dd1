"""Frozen events straight from their JSON.

Parsing an event with pydantic costs several times what its JSON costs, mostly for checks in
Python that ask whether a caller passed the wrong kind of object. The JSON that ADK stores is
simple: the keys are the fields' own aliases and each value has the very type of its field. Such
JSON is taken apart here without asking; everything else is refused, and pydantic reads it.

That both bring the same is not taken on trust. The first event of each shape is read by pydantic
too, and a shape that comes out different is never read here.
"""

from __future__ import annotations

import enum
import functools
import types
import typing
from collections.abc import Callable
from typing import Any

from google.adk.events.event import Event
from pydantic import BaseModel
from pydantic_core import PydanticUndefined, from_json

from hotseat.adk.frozen import (
    DEEP,
    EMPTY,
    FLAT,
    MODELS,
    ONE,
    Frozen,
    NotFreezable,
    Shape,
    private_defaults,
)

# Plans are made of the keys that objects have, in their order. ADK writes few such rows of keys;
# should there be many, the events with further ones are refused.
MAX_PLANS = 2_000

# Checks of whole models that change nothing in JSON whose keys are all fields.
_HARMLESS = {"_accept_convenience_kwargs", "_check_field_type_mismatches"}

_SIMPLE = (str, int, float, bool)

Plan = Callable[[dict[str, Any], list[Any]], Shape]
_plans: dict[type[BaseModel], dict[tuple[str, ...], Plan]] = {}
_count = 0
_trusted: dict[Shape, bool] = {}


def frozen_event(raw: bytes) -> Frozen:
    """The event of some JSON; raises :class:`NotFreezable` where pydantic has to read it."""
    try:
        data = from_json(raw)
    except ValueError:
        raise NotFreezable("no JSON") from None
    parts: list[Any] = []
    shape = take(Event, data, parts)
    frozen = Frozen.of(shape, parts)
    trusted = _trusted.get(shape)
    if trusted is None:
        trusted = _trusted[shape] = _is_as_pydantic_reads_it(frozen, raw)
    if not trusted:
        raise NotFreezable("pydantic reads it differently")
    return frozen


def take(cls: type[BaseModel], data: Any, parts: list[Any]) -> Shape:
    """Adds the insides of a model, given as JSON, to `parts` and gives its shape."""
    if type(data) is not dict:
        raise NotFreezable(cls.__name__)
    plan = _plans.setdefault(cls, {}).get(tuple(data))
    return (plan or _new_plan(cls, tuple(data)))(data, parts)


def _is_as_pydantic_reads_it(frozen: Frozen, raw: bytes) -> bool:
    try:
        parsed = Event.model_validate_json(raw)
    except ValueError:
        return False
    thawed = frozen.thaw()
    return thawed == parsed and thawed.model_dump_json(exclude_unset=True) == (
        parsed.model_dump_json(exclude_unset=True)
    )


def _new_plan(cls: type[BaseModel], keys: tuple[str, ...]) -> Plan:
    global _count
    if _count >= MAX_PLANS:
        raise NotFreezable("too many rows of keys")
    plan = _compile(cls, keys)
    _count += 1
    _plans.setdefault(cls, {})[keys] = plan
    return plan


def _compile(cls: type[BaseModel], keys: tuple[str, ...]) -> Plan:
    """A function that takes objects with these keys apart: straight code, as for copies."""
    _refuse_special(cls)
    names = {field.alias or name: name for name, field in cls.model_fields.items()}
    if not all(key in names for key in keys):
        raise NotFreezable(f"{cls.__name__} with keys that are no fields")
    template, filled = _template(cls, {names[key] for key in keys})
    globals_: dict[str, Any] = {
        "take": take,
        "take_list": _take_list,
        "take_object": _take_object,
        "take_strings": _take_strings,
        "take_any": _take_any,
        "empty": EMPTY,
        "refused": functools.partial(NotFreezable, cls.__name__),
        "template": template,
        "cls": cls,
        "names": frozenset(names[key] for key in keys),
        "filled": filled,
    }
    values = ", ".join(f"x{n}" for n in range(len(keys)))
    lines = [f"({values},) = data.values()"] if keys else []
    lines += ["fields = template.copy()", "parts.append(fields)", "inside = []"]
    validated = _fields_with_validators(cls)
    for n, key in enumerate(keys):
        name = names[key]
        field = cls.model_fields[name]
        special = bool(field.metadata) or field.discriminator is not None or name in validated
        kind = _Kind(None) if special else _kind(field.annotation)
        lines += _lines(f"x{n}", name, kind)
        globals_[f"of_{name}"] = kind.inner
    if cls is Event:
        lines.append("if not fields['id']: raise refused()")  # ADK makes one up.
    lines.append("inside.extend(filled(parts))" if filled else "")
    lines.append("return (cls, names, tuple(inside))")
    body = "\n    ".join(line for line in lines if line)
    exec(f"def plan(data, parts):\n    {body}", globals_)
    return globals_["plan"]


def _lines(x: str, name: str, kind: _Kind) -> list[str]:
    """The code for one field. What may change is put where each copy gets its own."""
    keep = f"fields[{name!r}] = {x}"
    note = f"inside.append(({name!r}, how))"
    emptied = f"fields[{name!r}] = None"
    if kind.what == "simple":
        return [f"if type({x}) is not of_{name}: raise refused()", keep]
    if kind.what == "enum":
        found = f"{x} = of_{name}.get({x}) if type({x}) is str else None"
        return [found, f"if {x} is None: raise refused()", keep]
    if kind.what == "model":
        return [f"how = take(of_{name}, {x}, parts); {note}"]
    if kind.what == "models":
        return [f"how = take_list(of_{name}, {x}, parts); {note}"]
    if kind.what == "object":
        return [f"how = take_object(of_{name}, {x}, parts); {note}"]
    if kind.what == "strings":
        return [f"how = take_strings({x}, parts); {note}"]
    if kind.what == "any":
        return [keep, f"how = take_any({x}, parts)", f"if how is not None: {emptied}; {note}"]
    # Nothing is known of it, except that an object without keys has nothing to be read.
    return [f"if type({x}) is not dict or {x}: raise refused()", f"how = empty; {note}"]


class _Kind(typing.NamedTuple):
    what: str | None
    inner: Any = None


@functools.cache
def _kind(annotation: Any) -> _Kind:
    origin, choices = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        others = [choice for choice in choices if choice is not type(None)]
        return _kind(others[0]) if len(others) == 1 else _Kind(None)
    if annotation in _SIMPLE:
        return _Kind("simple", annotation)
    if annotation is Any or annotation is object:
        return _Kind("any")
    if origin is dict and choices[0] is str:
        if choices[1] is Any or choices[1] is object:
            return _Kind("object")
        return _Kind("object", choices[1]) if choices[1] in _SIMPLE else _Kind(None)
    if origin is set and choices == (str,):
        return _Kind("strings")
    if origin is list and _is_model(choices[0]):
        return _Kind("models", choices[0])
    if _is_model(annotation):
        return _Kind("model", annotation)
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return _Kind("enum", {member.value: member for member in annotation})
    return _Kind(None)


def _take_list(cls: type[BaseModel], data: Any, parts: list[Any]) -> Any:
    if type(data) is not list:
        raise NotFreezable(cls.__name__)
    if len(data) == 1:
        return (ONE, take(cls, data[0], parts))
    items = []
    for each in data:
        inner: list[Any] = []
        items.append(Frozen.of(take(cls, each, inner), inner))
    parts.append(items)
    return MODELS


def _take_object(values: type | None, data: Any, parts: list[Any]) -> Any:
    if type(data) is not dict:
        raise NotFreezable("no object")
    if not data:
        return EMPTY
    if values is not None and any(type(value) is not values for value in data.values()):
        raise NotFreezable("an object with other values")
    return _take_any(data, parts)


def _take_strings(data: Any, parts: list[Any]) -> Any:
    if type(data) is not list or any(type(each) is not str for each in data):
        raise NotFreezable("no strings")
    parts.append(set(data))
    return FLAT


def _take_any(data: Any, parts: list[Any]) -> Any:
    """What JSON brought, as it is. Nobody else has it."""
    kind = type(data)
    if kind is dict:
        parts.append(data)
        return DEEP if any(type(each) in (dict, list) for each in data.values()) else FLAT
    if kind is list:
        parts.append(data)
        return DEEP if any(type(each) in (dict, list) for each in data) else FLAT
    return None


def _template(cls: type[BaseModel], given: set[str]) -> tuple[dict[str, Any], Any]:
    """The fields of a model before anything is filled in, and what fills those not given."""
    template: dict[str, Any] = {}
    objects: list[str] = []
    models: list[tuple[str, type[BaseModel]]] = []
    for name, field in cls.model_fields.items():
        template[name] = None
        if name in given:
            continue
        if field.default_factory is dict:
            objects.append(name)
        elif _is_model(field.default_factory):
            models.append((name, field.default_factory))
        elif field.default is PydanticUndefined or not isinstance(
            field.default, str | int | float | None
        ):
            raise NotFreezable(f"{cls.__name__} without {name}")
        else:
            template[name] = field.default
    if not objects and not models:
        return template, None

    def filled(parts: list[Any]) -> list[tuple[str, Any]]:
        made = [(name, EMPTY) for name in objects]
        return [*made, *((name, take(inner, {}, parts)) for name, inner in models)]

    return template, filled


@functools.cache
def _refuse_special(cls: type[BaseModel]) -> None:
    """Raises if reading the model does more than filling its fields."""
    decorators = cls.__pydantic_decorators__
    after = cls.model_post_init
    plain_end = after is BaseModel.model_post_init or after.__name__ == "init_private_attributes"
    if (
        not set(decorators.model_validators) <= _HARMLESS
        or decorators.root_validators
        or cls.model_config.get("extra") == "allow"
        or cls.__pydantic_root_model__
        or not (plain_end or cls is Event)
    ):
        raise NotFreezable(cls.__name__)
    private_defaults(cls)


def _fields_with_validators(cls: type[BaseModel]) -> set[str]:
    decorators = cls.__pydantic_decorators__
    every = [*decorators.field_validators.values(), *decorators.validators.values()]
    return {name for each in every for name in each.info.fields}


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
