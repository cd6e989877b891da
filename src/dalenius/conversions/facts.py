"""What is known besides a guarantee: about the prior, the sizes of alphabets, the number of records and releases."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction

from dalenius.errors import InputError
from dalenius.exact import Integer, Number, as_fraction, as_integer, fraction_text

__all__ = ["MEANINGS", "MOST_RELEASES", "Facts"]

MOST_RELEASES = 10_000
MEANINGS = {
    "p_min": "every value of the secret has at least this probability",
    "p_max": "no value of the secret has more than this probability",
    "letters": "the secret has at most so many values",
    "outputs": "the release has at most so many values",
    "records": "a dataset has so many records",
    "independent": "the records are independent under the prior",
    "attribute_max": "no value of the attribute has more than this probability before the release",
    "prior_ratio": "(min r/p)/(max r/p) for the prior r of the adversary and the prior p of the guarantee",
    "releases": "so many releases of the same secret, each with the guarantee",
}


@dataclass(frozen=True)
class Facts:
    """Facts that rules may need; what is None is not known.

    Parameters
    ----------
    p_min, p_max : Fraction, optional
        Bounds of the probabilities of the secret's values.
    letters, outputs, records : int, optional
    independent : bool
        Whether the records are independent under the prior.
    attribute_max : Fraction, optional
        The largest probability of a value of the attribute that is to be guessed.
    prior_ratio : Fraction, optional
    releases : int
    """

    p_min: Fraction | None = None
    p_max: Fraction | None = None
    letters: int | None = None
    outputs: int | None = None
    records: int | None = None
    independent: bool = False
    attribute_max: Fraction | None = None
    prior_ratio: Fraction | None = None
    releases: int = 1

    @classmethod
    def of(
        cls,
        *,
        p_min: Number | None = None,
        p_max: Number | None = None,
        letters: Integer | None = None,
        outputs: Integer | None = None,
        records: Integer | None = None,
        independent: bool = False,
        attribute_max: Number | None = None,
        prior_ratio: Number | None = None,
        releases: Integer = 1,
    ) -> Facts:
        """Facts as people write them, and what follows from them: a least probability bounds the number of letters.

        Raises
        ------
        InputError
            If a number cannot be read, is out of range, or two contradict each other.

        >>> Facts.of(p_min="0.3").letters
        3
        """
        least, most = _share(p_min, "p_min"), _share(p_max, "p_max")
        size = None if letters is None else as_integer(letters, "letters", at_least=2)
        if least is not None:
            if least > Fraction(1, 2) or (size is not None and least * size > 1):
                raise InputError(
                    f"p_min: {size or 2} values cannot each have probability {fraction_text(least)}; expected at most 1/{size or 2}"
                )
            size = size or int(1 / least)
            most = min(most or Fraction(1), 1 - least)
        if most is not None and (most < (least or 0) or (size is not None and most * size < 1)):
            raise InputError(
                f"p_max: {fraction_text(most)} is too small for {size} values that are at least as probable as p_min"
            )
        return cls(
            p_min=least,
            p_max=most,
            letters=size,
            outputs=None if outputs is None else as_integer(outputs, "outputs", at_least=1),
            records=None if records is None else as_integer(records, "records", at_least=1),
            independent=independent,
            attribute_max=_share(attribute_max, "attribute_max"),
            prior_ratio=_share(prior_ratio, "prior_ratio"),
            releases=as_integer(releases, "releases", at_least=1, at_most=MOST_RELEASES),
        )

    def known(self) -> frozenset[str]:
        """The names of what is known.

        >>> sorted(Facts.of(p_min=0.5).known())
        ['letters', 'p_max', 'p_min']
        """
        given = (field.name for field in fields(self))
        return frozenset(name for name in given if getattr(self, name) not in (None, False) and name != "releases")


def _share(value: Number | None, what: str) -> Fraction | None:
    if value is None:
        return None
    share = as_fraction(value, what)
    if not 0 < share <= 1:
        raise InputError(f"{what}: expected a number above 0 and at most 1, got {fraction_text(share)}")
    return share
