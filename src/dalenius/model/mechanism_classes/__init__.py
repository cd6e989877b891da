"""The classes of mechanisms that a design may look among, and the words that name them."""

from __future__ import annotations

from dalenius.errors import InputError, brief, hint
from dalenius.model.mechanism_classes.additive import Additive
from dalenius.model.mechanism_classes.base import MechanismClass
from dalenius.model.mechanism_classes.full import Full
from dalenius.model.mechanism_classes.oblivious import Oblivious
from dalenius.model.mechanism_classes.tied import TiedEntries

__all__ = ["MECHANISM_CLASSES", "Additive", "Full", "MechanismClass", "Oblivious", "TiedEntries", "mechanism_class"]

MECHANISM_CLASSES: dict[str, type[MechanismClass]] = {cls.kind: cls for cls in (Oblivious, Full, Additive)}


def mechanism_class(word: object) -> MechanismClass:
    """The class that a word names, or the class itself.

    Raises
    ------
    InputError
        If there is no such class.

    >>> mechanism_class("additive")
    Additive()
    """
    if isinstance(word, MechanismClass):
        return word
    if not isinstance(word, str) or word not in MECHANISM_CLASSES:
        raise InputError(
            f"mechanism: class must be one of {', '.join(MECHANISM_CLASSES)}; got {brief(word)}{hint(word, MECHANISM_CLASSES)}"
        )
    return MECHANISM_CLASSES[word]()
