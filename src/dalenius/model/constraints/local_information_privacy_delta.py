"""A limit of the delta of local information privacy of a secret."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dalenius.model.constraints.secret_limits import HockeyStick

__all__ = ["LocalInformationPrivacyDelta"]


@dataclass(frozen=True, init=False)
class LocalInformationPrivacyDelta(HockeyStick):
    """sum_y max(r - e^epsilon W(s,.), 0) and e^-epsilon sum_y max(W(s,.) - e^epsilon r, 0) are at most so much for every letter s.

    Parameters
    ----------
    epsilon : number or str
    at_most : number
    secret, priors : optional
        As of `SecretLimit`.

    >>> LocalInformationPrivacyDelta(1, 0.05).factor()[0] > 2
    True
    """

    kind: ClassVar[str] = "local_information_privacy_delta"

    @property
    def at_zero(self) -> str:
        return f"local_information_privacy (dl.LocalInformationPrivacy) with epsilon {self.epsilon}"
