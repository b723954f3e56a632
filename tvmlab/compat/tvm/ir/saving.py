"""Formulas and schedules as JSON text, and back.

Objects are written as a table of their fields, so that what is shared stays shared. Reading makes
objects of tvmlab's own node classes only and runs no code from the text.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
from enum import Enum
from typing import Any, cast

from tvmlab.support import ParseError, UserError
from tvmlab.te import Reducer, reduction

_FORMAT = "tvmlab-nodes"
_HOMES = (
    "tvmlab.ir.",
    "tvmlab.te.",
    "tvmlab.schedule.stages.",
    "tvmlab.support.",
    "tvmlab.compat.tvm.te.",
)
_REDUCERS = {name: value for name, value in vars(reduction).items() if isinstance(value, Reducer)}


def save_json(node: Any) -> str:
    """A formula, tensor, operation or te schedule as JSON text.

    Raises
    ------
    UserError
        If it holds something that is no data, such as a reducer made of Python functions.
    """
    writer = _Writer()
    root = writer.value(node)
    return json.dumps({"format": _FORMAT, "version": 1, "root": root, "nodes": writer.nodes})


def load_json(text: str) -> Any:
    """What `save_json` wrote.

    Raises
    ------
    ParseError
        If the text is not of that form.
    """
    try:
        data = json.loads(text)
        if data["format"] != _FORMAT or data["version"] != 1:
            raise KeyError("format")
        return _Reader(data["nodes"]).value(data["root"])
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise ParseError(
            "this text was not written by tvm.ir.save_json of tvmlab",
            hint="files of TVM itself hold objects that only TVM has",
        ) from error


class _Writer:
    """Gives each object a number and writes its fields once."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []

    def value(self, value: Any) -> Any:
        if value is None or (
            isinstance(value, bool | int | float | str) and not isinstance(value, Enum)
        ):
            return value
        if isinstance(value, list | tuple):
            kind = "list" if isinstance(value, list) else "tuple"
            return {kind: [self.value(v) for v in value]}  # pyright: ignore
        if isinstance(value, set | frozenset):
            return {"set": [self.value(v) for v in value]}  # pyright: ignore
        return {"node": self._number(value)}

    def _number(self, value: Any) -> int:
        if id(value) not in self._numbers:
            number = self._numbers[id(value)] = len(self.nodes)
            self._alive.append(value)
            self.nodes.append(None)
            self.nodes[number] = self._fields(value)
        return self._numbers[id(value)]

    def _fields(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {"dict": [[self.value(k), self.value(v)] for k, v in value.items()]}  # pyright: ignore
        if isinstance(value, Reducer):
            for name, known in _REDUCERS.items():
                if known is value:
                    return {"reducer": name}
            raise UserError(f"{value.name} is made of Python functions, which are not saved")
        home = f"{type(value).__module__}."
        if not home.startswith(_HOMES):
            raise UserError(f"a {type(value).__name__} is not saved: it is no part of a formula")
        name = f"{type(value).__module__}:{type(value).__qualname__}"
        if isinstance(value, Enum):
            return {"enum": name, "value": value.value}
        names: list[str] = (
            [f.name for f in dataclasses.fields(value)]
            if dataclasses.is_dataclass(value)
            else [*vars(value)]
        )
        return {"class": name, "fields": {n: self.value(getattr(value, n)) for n in names}}


class _Reader:
    """Makes each object once, then fills in its fields."""

    def __init__(self, nodes: list[Any]) -> None:
        self.nodes = nodes
        self._made: dict[int, Any] = {}

    def value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        ((kind, content),) = data.items()  # pyright: ignore
        if kind == "list":
            return [self.value(v) for v in content]  # pyright: ignore
        if kind == "tuple":
            return tuple(self.value(v) for v in content)  # pyright: ignore
        if kind == "set":
            return {self.value(v) for v in content}  # pyright: ignore
        return self._node(int(content))  # pyright: ignore

    def _node(self, number: int) -> Any:
        if number in self._made:
            return self._made[number]
        data = self.nodes[number]
        if "reducer" in data:
            made: Any = _REDUCERS[data["reducer"]]
        elif "enum" in data:
            made = _class(data["enum"])(data["value"])
        elif "dict" in data:
            made = self._made[number] = {}
            made.update((self.value(k), self.value(v)) for k, v in data["dict"])
        else:
            made = self._made[number] = object.__new__(_class(data["class"]))
            for name, value in data["fields"].items():
                object.__setattr__(made, name, self.value(value))
        self._made[number] = made
        return made


def _class(name: str) -> Any:
    """A class of tvmlab's nodes by name; no other class can be named."""
    module, _, qualname = name.partition(":")
    if not f"{module}.".startswith(_HOMES):
        raise KeyError(name)
    found: Any = getattr(importlib.import_module(module), qualname)
    if not isinstance(found, type) or found.__module__ != module:
        raise KeyError(name)
    if dataclasses.is_dataclass(found) or issubclass(found, Enum) or qualname in _PLAIN:
        return cast(Any, found)
    raise KeyError(name)


_PLAIN = {"TeSchedule", "Stage", "Group", "Namer"}
