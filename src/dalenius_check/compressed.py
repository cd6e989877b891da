"""A certificate file that is compressed (docs/certificate-format.md): one member of gzip, and nothing else."""

from __future__ import annotations

import zlib

from .allowance import Allowance
from .numbers import RefusedError, need
from .read import MAX_FILE

_GZIP = b"\x1f\x8b"  # no line of JSON begins so
_PIECE = 1 << 18


def plain(data: bytes, allowance: Allowance) -> bytes:
    """What a certificate's file says: itself, or what it is the compressed form of, piece by piece within the limits."""
    if not data.startswith(_GZIP):
        return data
    stream = zlib.decompressobj(wbits=31)
    found = bytearray()
    start = 0
    while not stream.eof:
        allowance.look()
        allowance.room(2 * (len(found) + _PIECE))
        given = stream.unconsumed_tail or data[start : start + _PIECE]
        start += 0 if stream.unconsumed_tail else len(given)
        try:
            made = stream.decompress(given, _PIECE)
        except zlib.error as error:
            raise RefusedError(f"not what gzip writes ({error})") from None
        need(bool(given or made) or stream.eof, "the compressed data end too early")
        found += made
        need(max(len(data), len(found)) <= MAX_FILE, f"the certificate is longer than {MAX_FILE} bytes")
    need(start >= len(data) and not stream.unused_data, "something stands after the compressed data")
    allowance.take(len(found))
    return bytes(found)
