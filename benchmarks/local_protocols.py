"""Every local protocol on a domain against classes of laws near one with three probabilities: gaps, processor seconds, bytes.

    python benchmarks/local_protocols.py --inputs 1000 --epsilon 1

Processor seconds are of everything, the independent check included.
"""

from __future__ import annotations

import argparse
import math
import time
from fractions import Fraction

import dalenius as dl


def protocols(epsilon: float, inputs: int) -> dict[str, dl.mechanisms.Mechanism]:
    """As their authors would choose sizes and buckets."""
    factor = math.exp(epsilon)
    return {
        "k-ary randomised response": dl.subset_selection(epsilon, size=1),
        "subset selection": dl.subset_selection(epsilon, size=max(1, round(inputs / (factor + 1)))),
        "optimised unary encoding": dl.optimized_unary_encoding(epsilon),
        "local hashing": dl.local_hashing(epsilon, buckets=round(factor) + 1),
        "Hadamard response": dl.hadamard_response(epsilon),
    }


def adversaries(law: list[Fraction]) -> dict[str, dl.adversaries.Adversary]:
    """Balls around a law, and what holds of it letter by letter."""
    return {
        "KL 0.01": dl.KLBallPriors(law, "0.01"),
        "chi-square 0.02": dl.ChiSquareBallPriors(law, "0.02"),
        "L1 0.2": dl.L1BallPriors(law, "0.2"),
        "box 20 %": dl.BoxPriors([p * 4 / 5 for p in law], [p * 6 / 5 for p in law]),
        "independent": dl.ProductPriors(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=1000)
    parser.add_argument("--epsilon", type=float, default=1.0)
    options = parser.parse_args()
    few, some = options.inputs * 3 // 10, options.inputs * 3 // 5
    weights = [5 if k < few else 3 if k < some else 2 for k in range(options.inputs)]
    law = [Fraction(weight, sum(weights)) for weight in weights]
    for name, mechanism in protocols(options.epsilon, options.inputs).items():
        for near, adversary in adversaries(law).items():
            started = time.process_time()
            problem = dl.WorstCaseLeakage(
                records=dl.Records(1, alphabet=options.inputs),
                query=dl.Identity(),
                mechanism=mechanism,
                adversary=adversary,
            )
            result = dl.solve(problem, gap=1e-8)
            seconds, size = time.process_time() - started, len(result.certificate.text)
            told = f"{name:<26} {near:<16} {result.upper:.9f} nats, gap {result.gap:8.1e}"
            print(f"{told}, {seconds:6.2f} s, {size:7d} bytes")


if __name__ == "__main__":
    main()
