"""Certificates as files, and spelled as no honest program would."""

import json
import random
import re
from collections.abc import Callable

from forgery_drafts import Draft
from forgery_subjects import Certificate


def text_of(lines: Certificate) -> bytes:
    """A certificate as a file."""
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)


def odd_text(rng: random.Random, text: bytes, draft: Draft) -> bytes:
    """The same file, spelled as no honest program would."""
    lines = text.split(b"\n")
    at = rng.randrange(len(lines))
    honest = draft.subject.parents[0][0]
    ends = b'"lower":%s,"upper":%s,' % tuple(json.dumps(honest.get(key)).encode() for key in ("lower", "upper"))
    number = rng.choice(re.findall(rb'"[0-9][0-9.]*"', text) or [b'"0"'])
    changes: list[Callable[[], bytes]] = [
        lambda: text.replace(b"{", b"{" + ends, 1),
        lambda: text.replace(b"}\n", b"," + ends[:-1] + b"}\n", 1),
        lambda: b"\n".join([*lines[:at], b"", *lines[at:]]),
        lambda: b"\n".join(
            [
                *lines[:at],
                rng.choice([b" ", b"null", b"[]", b"{}", b"#", b'["record",0]', b"\xff", b"\x00"]),
                *lines[at:],
            ]
        ),
        lambda: text.replace(b"\n", rng.choice([b"\r\n", b"\r", b"\n\n", b"\x0b", b"\x85", b"\xe2\x80\xa8"])),
        lambda: b"\xef\xbb\xbf" + text,
        lambda: text.replace(number, number.strip(b'"')),
        lambda: text.replace(
            number, rng.choice([b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-0", b"0.0", b"true"]), 1
        ),
        lambda: text.replace(number, b'"' + b"".join(b"\\u%04x" % c for c in number.strip(b'"')) + b'"'),
        lambda: text.replace(number, b'"' + number.strip(b'"').translate(bytes.maketrans(b"", b"")) + b'\\u0000"'),
        lambda: text.replace(number, b'"\\u066' + number[1:2] + b'"', 1),
        lambda: text + text,
        lambda: text.rstrip(b"\n"),
        lambda: text[: rng.randrange(len(text))],
        lambda: text.replace(b'["', b'[ "').replace(b",", b" ,\t"),
    ]
    return rng.choice(changes)()
