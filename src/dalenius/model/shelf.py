"""Frozen data with a name: how queries and mechanisms go into a model file's table and come out of it."""

from __future__ import annotations

import dataclasses
import inspect
from abc import ABCMeta
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, TypeVar

from dalenius.errors import InputError, brief, hint

S = TypeVar("S", bound="Shelved")


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
        signature = inspect.signature(cls.__init__)  # type: ignore[misc]
        return inspect.Signature(list(signature.parameters.values())[1:])

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        init = cls.__init__  # type: ignore[misc]
        signature = inspect.signature(init)
        try:
            if not hasattr(
                init, "__wrapped__"
            ):  # of which a mechanism's answers by itself, with the name of its function
                signature.bind(None, *args, **kwargs)
        except TypeError as error:
            asked = list(signature.parameters.values())[1:]
            names = [each.name if each.default is each.empty else f"{each.name}=..." for each in asked]
            raise InputError(f"{cls.__name__}: {error}; expected {cls.__name__}({', '.join(names)})") from None
        return super().__call__(*args, **kwargs)


@dataclasses.dataclass(frozen=True)
class Shelved(metaclass=Stated):
    """A frozen dataclass that a model file names by `kind`; its fields are the keys of its table.

    `keys` renames a field in the file, where the best name in Python is not the best name there; `in_files` has the type of a field
    that a file may write in more ways than the object keeps, for `model_schema`.
    """

    kind: ClassVar[str]
    keys: ClassVar[dict[str, str]] = {}
    in_files: ClassVar[dict[str, object]] = {}

    @classmethod
    def file_fields(cls) -> dict[str, dataclasses.Field[Any]]:
        """The keys of a model file's table besides `kind`, each with its field."""
        return {cls.keys.get(f.name, f.name): f for f in dataclasses.fields(cls) if f.init}

    @staticmethod
    def is_needed(field: dataclasses.Field[Any]) -> bool:
        """Whether a table must have the key of this field."""
        return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING

    def to_table(self) -> dict[str, Any]:
        """The model-file table without `kind`; a field left out is None."""
        return {self.keys.get(f.name, f.name): getattr(self, f.name) for f in dataclasses.fields(self)}

    @classmethod
    def from_table(cls: type[S], table: Mapping[str, Any], where: str) -> S:
        """Build from a table without `kind`; unknown and missing keys are errors."""
        fields = cls.file_fields()
        check_keys(table, fields, where)
        missing = [key for key, field in fields.items() if key not in table and cls.is_needed(field)]
        if missing:
            raise InputError(f"{where}: missing {', '.join(missing)}")
        return cls(**{fields[key].name: value for key, value in table.items()})


def read_shelved(shelf: Mapping[str, type[S]], table: Any, where: str) -> S:
    """The object that a model-file table describes, looked up by its `kind`.

    >>> from dalenius.model.queries import QUERIES
    >>> read_shelved(QUERIES, {"kind": "modular_sum", "modulus": 3}, "[query]")
    ModularSum(m=3)
    """
    if not isinstance(table, Mapping):
        raise InputError(f"{where}: expected a table, got {brief(table)}")
    kind = table.get("kind")
    if not isinstance(kind, str) or kind not in shelf:
        raise InputError(f"{where}: kind must be one of {', '.join(shelf)}; got {brief(kind)}{hint(kind, shelf)}")
    rest = {key: value for key, value in table.items() if key != "kind"}
    return shelf[kind].from_table(rest, f"{where} kind {kind}")


def check_keys(table: Mapping[str, Any], allowed: Iterable[str], where: str) -> None:
    """Raise `InputError` if the table has a key that is not allowed."""
    allowed = list(allowed)
    for key in table:
        if key not in allowed:
            expected = ", ".join(allowed) if allowed else "no keys"
            raise InputError(f"{where}: unknown key {brief(key)}; expected {expected}{hint(key, allowed)}")
