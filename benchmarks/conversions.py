"""How long conversions take: every ordered pair of notions, with little and with much known, in processor seconds.

python benchmarks/conversions.py
"""

from __future__ import annotations

import time

import dalenius as dl
from dalenius.conversions import NOTIONS

FACTS = {
    "nothing else known": {},
    "sizes and probabilities known": {
        "p_min": "0.05",
        "letters": 4,
        "outputs": 5,
        "records": 10,
        "independent": True,
        "attribute_max": "0.3",
    },
    "20 releases": {"p_min": "0.05", "letters": 4, "releases": 20},
}


def main() -> None:
    names = [f"{name}(0.5)" if notion.has_epsilon else name for name, notion in NOTIONS.items()]
    for what, facts in FACTS.items():
        times = []
        for source in names:
            for target in names:
                started = time.process_time()
                dl.convert(source, "0.03", to=target, **facts)
                times.append((time.process_time() - started, source, target))
        times.sort()
        slowest = times[-1]
        print(
            f"{what}: median {times[len(times) // 2][0]:.4f} s, slowest {slowest[0]:.3f} s ({slowest[1]} to {slowest[2]})"
        )


if __name__ == "__main__":
    main()
