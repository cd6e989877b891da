"""Base of all problems: records, a query, an adversary, and a way into a model file and out of it."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, field, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar, cast

from dalenius.errors import InputError, brief
from dalenius.information.arrays import Floats
from dalenius.model.adversaries import Adversary, EntropyAtLeast
from dalenius.model.costs import Costs
from dalenius.model.fields import Given, as_text, declared, keep, part
from dalenius.model.in_words import stated as stated_part
from dalenius.model.in_words import words_of
from dalenius.model.laws import resolved
from dalenius.model.queries import Identity, Query
from dalenius.model.records import Records
from dalenius.model.shelf import Shelved, Stated, check_keys, stated
from dalenius.notebook import one_line
from dalenius.notebook import table as shown_table
from dalenius.units import Quantity

P = TypeVar("P", bound="Problem")
T = TypeVar("T")


@declared(kw_only=True)
class Problem(metaclass=Stated):
    """A question about records, a query of them and, as a rule, an adversary: `WorstCaseLeakage`, `MinLeakage` or `MinDistortion`.

    Parameters
    ----------
    records : Records
    query : Query
    adversary : EntropyAtLeast, ProductPriors, PriorSet or a class of laws (KLBallPriors, ...)
    title, source : str, optional
        Free text, carried along.

    Every part but the records may be given in one line, as on the command line: query="threshold 3", adversary="2 bits".

    Attributes
    ----------
    written : bytes or None
        The model file that states the problem, if it was read from one: proofs are about these very bytes. None for what was made in
        Python, also from a problem that was read, and where the file only says in which table to find the law.

    Raises
    ------
    InputError
        If a part is of another type, or the parts do not fit together.
    """

    kind: ClassVar[str]  # in certificates, digests and records
    about_secrets: ClassVar[bool] = False  # whether an adversary's laws are those of the whole dataset
    in_models: ClassVar[str]  # in model files, and to people; the same but for `WorstCaseLeakage`
    task: ClassVar[str] = "design"  # what answering it is
    budget_key: ClassVar[str | None] = None  # of a design: the key of its budget in model files
    _own_quantity: ClassVar[Quantity] = Quantity.LEAKAGE  # what an answer bounds, if there is no objective
    room: ClassVar[str] = ""
    in_files: ClassVar[tuple[str, ...]]  # the fields that a model file has, in its order
    _above: ClassVar[tuple[str, ...]] = ()  # further keys that stand above all tables
    _joint_too: ClassVar[bool] = False  # whether the query may be a joint one
    records: Given[Records, Records] = Given(
        part(Records, "Records, such as Records(1000, alphabet=2)"), tables=Records.of_table
    )
    query: Given[Query, Query] = Given(stated_part(Query), tables=Query.of_kind)
    adversary: Given[Adversary | None, Adversary | None] = Given(stated_part(Adversary), tables=Adversary.of_kind)
    title: str = field(default="", compare=False)
    source: str = field(default="", compare=False)
    written: bytes | None = field(default=None, init=False, compare=False, repr=False)

    def __init_subclass__(cls) -> None:
        if "kind" in vars(cls):
            cls.in_models = vars(cls).get("in_models", cls.kind)
        cls.__repr__ = Problem.__repr__  # type: ignore[method-assign]  # not that of each dataclass

    def __post_init__(self) -> None:
        for name in ("title", "source"):
            as_text(getattr(self, name), name)
        self._check_adversary()
        self.query.check(self.records)
        if self.query.audits_only and not self._joint_too:
            raise InputError(f"{self.query.audits_only} {self.kind}")
        keep(self, query=self.query.of_records(self.records))
        self._resolve()

    def _resolve(self) -> None:
        """Raise `InputError` if it is not known how to answer the question; here, if the query's values cannot be listed."""
        self.query.check_values(self.records)

    def _check_adversary(self) -> None:
        """Raise `InputError` if the adversary does not fit."""
        if self.adversary is not None:
            self.adversary.check(self.records)

    def _as_written(self: P, text: bytes) -> P:
        """The same problem, read from a model file with this text."""
        read = copy.copy(self)
        keep(read, written=text)
        return read

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Make something of the problem once, as cached properties are: for those on floors above, by a name of theirs."""
        if name not in self.__dict__:
            self.__dict__[name] = make()
        return cast("T", self.__dict__[name])

    @property
    @abstractmethod
    def costs(self) -> Costs:
        """Predicted costs of proving an answer."""

    @property
    def own_matrix(self) -> Floats | None:
        """The channel of a mechanism of a kind that the checker does not know."""
        return None

    @property
    def held_bytes(self) -> int:
        """Memory of the channels that an audit works with."""
        return 0

    @property
    def searched(self) -> bool:
        """True if the adversary's priors are searched, and the question has a curve, a checkpoint and an alternating scheme."""
        return False

    @property
    def quantity(self) -> Quantity:
        """The quantity that an answer bounds."""
        return self._own_quantity

    @property
    def most_values(self) -> int:
        """The largest number of values of what is revealed about, a record: nothing reveals more than its logarithm."""
        return max((size for size, _ in self.records.runs), default=1)

    @property
    def about(self) -> str:
        """Subject of an answer, in words."""
        return "any one record"

    @property
    @abstractmethod
    def inputs(self) -> str:
        """Index of the rows of the problem's mechanisms: ``"query"`` values or ``"dataset"`` indices."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Numbers of inputs and outputs of the mechanism."""

    @property
    def no_program(self) -> str:
        """Why it has no convex program to hand out, where it has none."""
        return "" if self.adversary is None else self.adversary.no_program

    @property
    def distortion_budget(self) -> Fraction | None:
        """The largest expected distortion allowed; None where there is no such budget."""
        return None

    @property
    def leakage_budget(self) -> float | None:
        """The largest leakage allowed, in nats, as a double; None where there is no such budget."""
        return None

    @property
    def leakage_allowed(self) -> tuple[Fraction, str] | None:
        """The same as written: the amount and its unit."""
        return None

    @property
    def query_of_inputs(self) -> Query:
        """The query whose values are the inputs of the problem's mechanisms: its own, or the dataset itself."""
        return Identity() if self.inputs == "dataset" else self.query

    @property
    def entropy_bound(self) -> float:
        """b in nats; `InputError` where the adversary is another than `EntropyAtLeast`."""
        return self._entropy.nats(self.records)

    @property
    def max_knowledge(self) -> float:
        """log |X| - b in nats, what the adversary may know at most; `InputError` where it is another than `EntropyAtLeast`."""
        return self._entropy.max_knowledge(self.records)

    @property
    def bound(self) -> EntropyAtLeast | None:
        """The adversary, where it is a lower bound on entropies."""
        return None if self.adversary is None else self.adversary.bound

    @property
    def _entropy(self) -> EntropyAtLeast:
        adversary = self.against("an entropy bound")
        if self.bound is None:
            raise InputError(f"adversary: {adversary.kind} has no entropy bound; give entropy_at_least")
        return self.bound

    @property
    def along(self) -> tuple[str, ...]:
        """The keys of model files along which answers are handed on from one question to the next."""
        return ()

    @property
    def place(self) -> float | None:
        """Place of a question on its curve or frontier, in doubles: its entropy bound in nats, or its budget; else None."""
        return None

    @property
    def share(self) -> Fraction | None:
        """The entropy bound of an audit of records as a share of the largest one, roughly where it is stated otherwise."""
        return None

    def anywhere(self) -> Problem:
        """The same question, wherever on its curve or frontier it stands."""
        return self

    def informed_by(self, other: Problem) -> bool:
        """True if a proof about another question, which differs along `along`, says anything about this one."""
        return True

    def against(self, what: str) -> Adversary:
        """The adversary; `InputError` for a design under [privacy] or constraints alone, which has none: `what` is about one."""
        if self.adversary is None:
            raise InputError(
                f"{what} is about an adversary, and this design has [privacy] or constraints instead; solve it, or give it an "
                "adversary and max_leakage"
            )
        return self.adversary

    @classmethod
    @abstractmethod
    def _model_keys(cls, model: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The keys above all tables, and the tables, that this model file needs besides ``problem``, and those it may have."""

    @classmethod
    def from_model(cls, model: Mapping[str, Any], folder: str | Path = "") -> Self:
        """Build from the tables of a model file (docs/model-format.md); paths in it are relative to `folder`."""
        needed, optional = cls._model_keys(model)
        check_keys(model, ("problem", *cls._above, *optional, *needed), "model")
        for key in needed:
            cls._need(model, key)
        common, tables = ("records", "query", "adversary"), resolved(model, folder)
        own = cls._read(tables, [key for key in cls.in_files if key not in common])
        texts = {key: model.get(key, "") for key in ("title", "source")}
        return cls(**own, **cls._read(tables, [key for key in common if key in cls.in_files]), **texts)

    @classmethod
    def _need(cls, model: Mapping[str, Any], key: str) -> None:
        """Raise `InputError` if a file does not have what it must."""
        if not isinstance(model.get(key), Mapping):
            raise InputError(f"model: expected a table [{key}]")

    @classmethod
    def _read(cls, model: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
        """Those of these fields that a file has."""
        return {key: getattr(cls, key).tables(model[key], f"[{key}]") for key in keys if key in model}

    def to_model(self) -> dict[str, Any]:
        """The tables of a model file, with every default filled in."""
        texts = {key: getattr(self, key) for key in ("title", "source") if getattr(self, key)}
        return {"problem": self.in_models, **texts, **self._stated("to_model")}

    def normal_form(self) -> dict[str, Any]:
        """Data that the digest is taken of (docs/model-format.md); numbers may still be numbers."""
        kept = self._stated("normal_form")
        return {"problem": self.kind, **{key: getattr(type(self), key).normal(x, key) for key, x in kept.items()}}

    def _stated(self, form: str) -> dict[str, Any]:
        """The fields of a file that there are, in one of these forms."""
        found = {key: stated(getattr(self, key), form) for key in self.in_files}
        return {key: value for key, value in found.items() if value is not None and value != ()}

    def __repr__(self) -> str:
        told = list[str]()
        for one in fields(self):
            value = getattr(self, one.name)
            usual = one.default if one.default_factory is MISSING else one.default_factory()
            if one.init and one.compare and value != usual:
                shown = words_of(value) if isinstance(value, Shelved) else getattr(value, "kind", value)
                told.append(f"{one.name}={brief(shown)}")
        return one_line(type(self).__name__, told)

    def _repr_html_(self) -> str:
        """For notebooks: the tables of its model file."""
        cells = list[tuple[str, object]]()
        for key, value in self.to_model().items():
            parts = value.items() if isinstance(value, Mapping) else [("", value)]
            cells += [(f"{key}.{name}" if name else key, part) for name, part in parts]
        return shown_table(self.title or self.in_models, cells)
