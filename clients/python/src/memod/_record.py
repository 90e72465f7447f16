"""Makes objects with attributes of the objects of JSON in an answer."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Callable, TypeVar, Union, get_type_hints

if TYPE_CHECKING:
    from typing_extensions import Self, dataclass_transform
else:  # `dataclass_transform` is in `typing` since 3.11, and only type checkers look at it

    def dataclass_transform(**_):
        return lambda kind: kind


T = TypeVar("T")
Field = tuple[str, Callable[[Any], Any], Callable[[], Any]]

EMPTY: dict[Any, Callable[[], Any]] = {list: list, dict: dict, bool: bool}


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Record:
    """A part of an answer, whose keys are attributes.

    A key that this version of the package does not know is left out. One that is absent is `None`, or an empty list, an
    empty dictionary or `False` where the attribute has that type. `vars(record)` has all of them.

    The classes are not data classes, because Python needs a tenth of a second to make so many.
    """

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    @classmethod
    def from_json(cls, json: dict[str, Any]) -> Self:
        """Reads an object of JSON."""
        record = cls.__new__(cls)
        values = record.__dict__
        for name, (key, read, empty) in fields(cls).items():
            value = json.get(key)
            values[name] = empty() if value is None else read(value)
        return record

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__}.{name}: an answer cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__}.{name}: an answer cannot be changed")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    __hash__ = None  # type: ignore[assignment] # as any class with `__eq__` whose values may be lists

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({values})"


KNOWN: dict[type[Record], dict[str, Field]] = {}


def fields(cls: type[Record]) -> dict[str, Field]:
    """Returns the attributes of a class with their keys; the types are resolved once, when the first answer has one."""
    found = KNOWN.get(cls)
    if found is None:
        hints = get_type_hints(cls, vars(sys.modules[cls.__module__]))
        found = {name: (name.rstrip("_"), *reading(hint)) for name, hint in hints.items()}
        KNOWN[cls] = found
    return found


def reading(hint: Any) -> tuple[Callable[[Any], Any], Callable[[], Any]]:
    """Returns what reads a value of a type, and what stands for one that is absent."""
    origin: Any = getattr(hint, "__origin__", hint)
    args: Any = getattr(hint, "__args__", ())
    if origin is Union:  # `Optional`
        return reading(args[0])[0], type(None)
    empty = EMPTY.get(origin, type(None))
    if origin is list and (read := reading(args[0])[0]) is not same:
        return lambda values: [read(value) for value in values], empty
    if origin is tuple:
        return tuple, empty
    return getattr(origin, "from_json", same), empty


def same(value: T) -> T:
    """Returns the value as it is."""
    return value
