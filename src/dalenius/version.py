"""Version of this release: the installed package's, the one place it is asked for."""

from __future__ import annotations

from importlib import metadata


def _installed() -> str:
    try:
        return metadata.version("dalenius")
    except metadata.PackageNotFoundError:  # a checkout that nobody installed
        return "0+unknown"


__version__ = _installed()
PRODUCER = f"dalenius {__version__}"  # who made a certificate
