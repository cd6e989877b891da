"""Frozen data with a name: how queries and mechanisms go into a model file's table and come out of it."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from abc import ABCMeta
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Self, TypeVar

from dalenius.errors import InputError, brief, hint
from dalenius.model.fields import Given, plain

S = TypeVar("S", bound="Shelved")


def _signature(init: Callable[..., None]) -> inspect.Signature:
    """Of a call that makes an object."""
    return inspect.Signature(list(inspect.signature(init).parameters.values())[1:])


_known = functools.cache(_signature)  # of a class that is finished


class Stated(ABCMeta):
    """Of classes that a user makes objects of: arguments that are missing, or too many, are input errors like all others.

    >>> from dalenius.model.privacy import LocalDP
    >>> LocalDP()
    Traceback (most recent call last):
        ...
    dalenius.errors.InputError: LocalDP: missing a required argument: 'epsilon'; expected LocalDP(epsilon)
    """

    @property
    def __signature__(cls) -> inspect.Signature:
        """That of its objects' `__init__`: help and tools would show the arguments of `__call__`."""
        return _signature(cls.__init__)  # type: ignore[misc]

    @property
    def called(cls) -> inspect.Signature:
        """The same, worked out once."""
        return _known(cls.__init__)  # type: ignore[misc]

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        signature = cls.called
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            asked = signature.parameters.values()
            by_name = [each.kind is each.KEYWORD_ONLY or each.default is not each.empty for each in asked]
            names = [f"{each.name}=..." if named else each.name for each, named in zip(asked, by_name, strict=True)]
            told = f"{cls.__name__}({', '.join(names)}){', all by name' if args and all(by_name) else ''}"
            raise InputError(f"{cls.__name__}: {error}; expected {told}") from None
        return super().__call__(*args, **kwargs)


class Shelved(metaclass=Stated):
    """A frozen dataclass that a model file names by `kind`; its fields are the keys of its table.

    `room` is what messages call the part of a model that it is.
    """

    kind: ClassVar[str]
    room: ClassVar[str]
    shelf: ClassVar[dict[str, type[Any]]]  # all that there are of its room, by their kinds
    example: ClassVar[str] = ""  # a line that describes one, where it needs several keys

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if not hasattr(cls, "kind"):
            raise InputError(
                f'{cls.__name__}: expected a kind, which messages name it by: kind = "{cls.__name__.lower()}"'
            )
        return super().__new__(cls)

    @classmethod
    def of_kind(cls, table: Any, where: str) -> Any:
        """The one of its room that a model-file table describes."""
        return read_shelved(cls.shelf, table, where)

    @classmethod
    def file_fields(cls) -> dict[str, Given[Any, Any]]:
        """The keys of a model file's table besides `kind`, each with its field."""
        told = [f.metadata.get("given") or plain(f) for f in dataclasses.fields(cls) if f.init]  # type: ignore[arg-type]
        return {each.key: each for each in told}

    def line(self) -> str | None:
        """The line that describes it, where that does not begin with its kind."""
        return None

    def to_table(self) -> dict[str, Any]:
        """The model-file table without `kind`; a field left out is None."""
        return {key: stated(getattr(self, each.name), "to_model") for key, each in self.file_fields().items()}

    def normal_table(self) -> dict[str, Any]:
        """The table of the normal form (docs/model-format.md), without `kind`."""
        return {
            key: None if (kept := getattr(self, each.name)) is None else each.normal(stated(kept, "normal_form"), key)
            for key, each in self.file_fields().items()
        }

    def to_model(self) -> dict[str, Any]:
        """The table of a model file."""
        return {"kind": self.kind, **self.to_table()}

    def normal_form(self) -> dict[str, Any]:
        """Data that the digest is taken of (docs/model-format.md)."""
        return {"kind": self.kind, **self.normal_table()}

    @classmethod
    def from_table(cls: type[S], table: Mapping[str, Any], where: str) -> S:
        """Build from a table without `kind`; unknown and missing keys are errors."""
        fields = cls.file_fields()
        check_keys(table, fields, where)
        missing = [key for key, each in fields.items() if key not in table and each.is_needed]
        if missing:
            raise InputError(f"{where}: missing {', '.join(missing)}")
        return cls(**{fields[key].name: fields[key].tables(value, f"{where}: {key}") for key, value in table.items()})


dataclasses.dataclass(frozen=True)(
    Shelved
)  # no decorator: types of classes below it, frozen or `declared`, would not do


def stated(value: Any, form: str) -> Any:
    """The fields, with the tables of what is shelved in them."""
    if isinstance(value, tuple) and value and hasattr(value[0], form):
        return [stated(each, form) for each in value]
    return getattr(value, form)() if hasattr(value, form) else value


def read_shelved(shelf: Mapping[str, type[S]], table: Any, where: str, advice: str = "") -> S:
    """The object that a model-file table describes, looked up by its `kind`; `advice` ends a refusal of the kind.

    >>> from dalenius.model.queries import QUERIES
    >>> read_shelved(QUERIES, {"kind": "modular_sum", "modulus": 3}, "[query]")
    ModularSum(m=3)
    """
    if not isinstance(table, Mapping):
        raise InputError(f"{where}: expected a table, got {brief(table)}")
    kind = table.get("kind")
    if not isinstance(kind, str) or kind not in shelf:
        raise InputError(
            f"{where}: kind must be one of {', '.join(shelf)}; got {brief(kind)}{hint(kind, shelf)}{advice}"
        )
    rest = {key: value for key, value in table.items() if key != "kind"}
    return shelf[kind].from_table(rest, f"{where} kind {kind}")


def check_keys(table: Mapping[str, Any], allowed: Iterable[str], where: str) -> None:
    """Raise `InputError` if the table has a key that is not allowed."""
    allowed = list(allowed)
    for key in table:
        if key not in allowed:
            expected = ", ".join(allowed) if allowed else "no keys"
            raise InputError(f"{where}: unknown key {brief(key)}; expected {expected}{hint(key, allowed)}")
