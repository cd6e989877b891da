"""Fields said once: what people write, what is kept of it, what it is in a model file, and its normal form."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, Never, TypeAlias, TypeVar, dataclass_transform

from dalenius.errors import InputError, brief
from dalenius.exact import Integer, Number, as_fraction, as_integer, as_quantity, fraction_text, limits_text
from dalenius.units import UNITS

W = TypeVar("W", covariant=True)  # what is written may be less in a subclass: nobody sets a field
K = TypeVar("K", covariant=True)
C = TypeVar("C", bound=type)
Read: TypeAlias = Callable[[Any, str], Any]  # what is written, and what it is, for messages: "mechanism: flip"


def as_it_is(value: Any, what: str) -> Any:
    """The same."""
    return value


@dataclasses.dataclass(eq=False)
class Given(Generic[W, K]):
    """A field of a class that is `declared`: people write a W, and what is kept is a K.

    Attributes
    ----------
    read : function
        A W, and what it is for messages, to a K; None passes where it is the default.
    default : optional
        As it is written.
    key : str
        In a model file, where the best name in Python is not the best name there; there may be several, of which a file has one table.
    tables : function
        What stands in a file, and where, to a W: tables to objects, and what a file may write in fewer ways.
    in_files : type
        In a file, where it has more ways than the object keeps, or others.
    normal : function
        What is kept, and what it is, to what the normal form has.
    """

    read: Read = as_it_is
    default: Any = dataclasses.field(default_factory=lambda: dataclasses.MISSING)
    kw_only: bool = False
    key: str = ""
    tables: Read = as_it_is
    in_files: Any = None
    normal: Read = as_it_is
    name: str = dataclasses.field(default="", init=False)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.key = name, self.key or name

    @property
    def options(self) -> dict[str, Any]:
        """Options of the dataclass's field."""
        by_name = {"kw_only": True} if self.kw_only else {}
        return {"default": self.default, "metadata": {"given": self}, **by_name}

    @property
    def is_needed(self) -> bool:
        """True if a model file's table must have the key."""
        return self.default is dataclasses.MISSING

    @property
    def written(self) -> str:
        """The type of what people write, for help: that of what `read` takes."""
        text = str(next(iter(self.read.__annotations__.values())))
        return text if self.default is not None or text.endswith("None") else f"{text} | None"

    # Of frozen objects, whose fields nobody sets; what is kept stands among the object's own attributes.
    if TYPE_CHECKING:

        def __get__(self, made: object, owner: type) -> K: ...

        def __set__(self, made: Never, value: W) -> None: ...  # type: ignore[misc]

    else:

        def __set__(self, made, value):
            if value is not None or self.default is not None:
                value = self.read(value, f"{made.room.format(made)}: {self.key}" if made.room else self.key)
            made.__dict__[self.name] = value


def plain(field: dataclasses.Field[Any]) -> Given[Any, Any]:
    """The same of a field of a dataclass that is not declared, such as one of a user's own."""
    made = Given[Any, Any](
        default=field.default if field.default_factory is dataclasses.MISSING else field.default_factory
    )
    made.__set_name__(object, field.name)
    return made


@dataclass_transform(field_specifiers=(Given, dataclasses.field))
def declared(cls: C | None = None, /, **options: bool) -> Any:
    """A frozen dataclass whose fields may be `Given`."""
    if cls is None:
        return lambda cls: declared(cls, **options)
    own, by_hand = {name: each for name, each in vars(cls).items() if isinstance(each, Given)}, "__init__" in vars(cls)
    for name, each in own.items():
        setattr(cls, name, dataclasses.field(**each.options))
    dataclasses.dataclass(frozen=True, **options)(cls)
    for name, each in own.items():
        setattr(cls, name, each)
    if not by_hand:
        told = {f.name: f.metadata["given"].written for f in dataclasses.fields(cls) if f.metadata}
        vars(cls)["__init__"].__annotations__.update(told)
    return cls


def number(*, at_least: Any = None, above: Any = None, at_most: Any = None, words: str = "") -> Read:
    """Return the reader of an exact number within limits; `words` is what it must be, for messages."""
    must = words or f"must be {limits_text(above, at_least, at_most=at_most, of='')}"

    def read(value: Number, what: str) -> Fraction:
        found = as_fraction(value, what)
        low = (at_least is None or found >= at_least) and (above is None or found > above)
        if not low or (at_most is not None and found > at_most):
            raise InputError(f"{what} {must}, got {brief(value)}")
        return found

    return read


def whole(*, at_least: int | None = None, at_most: int | None = None) -> Read:
    """Return the reader of an integer within limits."""

    def read(value: Integer, what: str) -> int:
        return as_integer(value, what, at_least=at_least, at_most=at_most)

    return read


Exact: TypeAlias = Given[Number, Fraction]
ExactOrNone: TypeAlias = Given[Number | None, Fraction | None]
Whole: TypeAlias = Given[Integer, int]
WholeOrNone: TypeAlias = Given[Integer | None, int | None]


def one_of(*words: str) -> Read:
    """Return the reader of one of a few texts."""

    listed = " or ".join(f'"{word}"' for word in words)

    def read(value: str, what: str) -> str:
        if value not in words:
            raise InputError(f"{what} must be {listed}, got {brief(value)}")
        return value

    return read


def as_text(value: str, what: str) -> str:
    """A text that a model file can hold; a lone surrogate has no form in UTF-8."""
    if not isinstance(value, str):
        raise InputError(f"{what} must be a text, got {brief(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{what} must be a text that UTF-8 can write") from None
    return value


def keep(made: object, **values: object) -> None:
    """Set fields of a frozen object while it is made: what follows from the others, or stands for several arguments."""
    for name, value in values.items():
        object.__setattr__(made, name, value)


def listed(words: str) -> Read:
    """Return the list that a file has where Python allows more spellings."""

    def tables(value: Any, where: str) -> Any:
        if not isinstance(value, list | tuple):
            raise InputError(f"{where} must be {words}, got {brief(value)}")
        return value

    return tables


def part(cls: type, words: str = "") -> Read:
    """Return the reader of a part of a class; `words` is what it must be, for messages."""

    def read(value: Any, what: str) -> Any:
        if not isinstance(value, cls):
            raise InputError(f"{what}: expected {words}, got {brief(value)}")
        return value

    words = words or f"{'an' if cls.__name__[0] in 'AEIOU' else 'a'} {cls.__name__}"
    read.__annotations__["value"] = cls.__name__
    return read


def flag(value: bool, what: str) -> bool:
    """A truth value."""
    if not isinstance(value, bool):
        raise InputError(f"{what} must be true or false, got {brief(value)}")
    return value


def amount_text(value: Number, what: str, units: str = "nats") -> str:
    """An amount of information as a text of an exact number and its unit.

    >>> amount_text(0.5, "at_most"), amount_text("1/3 bits", "at_most")
    ('0.5 nats', '1/3 bits')
    """
    amount, units = as_quantity(value, what, known=UNITS, units=units)
    return f"{fraction_text(amount)} {units}"


def amount_with_unit(value: Number, what: str) -> str:
    """The same of an amount whose unit must be said, unless it is 0.

    >>> amount_with_unit("0.5 bits", "at_most")
    '0.5 bits'
    """
    return amount_text(value, what, "")


def normal_amount(text: str, what: str) -> str:
    """The same in the normal form, as a fraction.

    >>> normal_amount("0.5 nats", "at_most")
    '1/2 nats'
    """
    amount, units = as_quantity(text, what, known=UNITS)
    return f"{amount} {units}"


LARGEST = 1000  # of epsilon in nats or bits


def read_epsilon(epsilon: Any, what: str) -> tuple[Fraction, str]:
    """The number that is written, and its unit: nats, bits or log.

    Raises
    ------
    InputError
        If it cannot be read, or is above 1000 nats or bits; `what` is what the message calls it.

    >>> read_epsilon("log 3", "epsilon"), read_epsilon(0.5, "epsilon")
    ((Fraction(3, 1), 'log'), (Fraction(1, 2), 'nats'))
    """
    if isinstance(epsilon, str) and epsilon.startswith("log "):
        amount = as_fraction(epsilon.removeprefix("log "), what)
        if amount <= 0:
            raise InputError(f'{what} = "log q" needs a number q above 0, got {brief(epsilon)}')
        return amount, "log"
    amount, unit = as_quantity(epsilon, what, known=UNITS)
    if amount > LARGEST:
        raise InputError(
            f'{what} is at most {LARGEST} {unit}, got {brief(epsilon)}; for a larger one write "log q" with q = e^epsilon'
        )
    return amount, unit


def epsilon_text(epsilon: Number, what: str) -> str:
    """The same in a model file.

    >>> epsilon_text(0.5, "epsilon"), epsilon_text("log 3/2", "epsilon")
    ('0.5 nats', 'log 1.5')
    """
    amount, unit = read_epsilon(epsilon, what)
    text = fraction_text(amount)
    return f"log {text}" if unit == "log" else f"{text} {unit}"


def normal_epsilon(epsilon: Any, what: str) -> str:
    """The same in the normal form (docs/model-format.md).

    >>> normal_epsilon(0.5, "epsilon"), normal_epsilon("log 1.5", "epsilon")
    ('1/2 nats', 'log 3/2')
    """
    amount, unit = read_epsilon(epsilon, what)
    return f"log {amount}" if unit == "log" else f"{amount} {unit}"
