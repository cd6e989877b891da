"""Independent checker of `dalenius` certificates: the standard library, and python-flint where it is installed."""

from __future__ import annotations

from .core.allowance import LimitError
from .core.known import Known
from .core.model import ModelFile
from .core.numbers import RefusedError
from .core.verdict import Status, Verdict
from .processes import Store
from .running import check, digest

__all__ = ["Known", "LimitError", "ModelFile", "RefusedError", "Status", "Store", "Verdict", "check", "digest"]
