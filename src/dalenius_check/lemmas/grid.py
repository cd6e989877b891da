"""Theorem W2: a count that is rounded at random to one of the two multiples of w around it, and only then told with the same noise,
reveals nearly as much as the count itself, which is a smaller question about more data.

Hypotheses, each a line that refuses: the noise is two-sided and geometric (`Grid.__init__`); what rounding hides is granted, and the
entropy that it adds is asked for (`Grid.run`); a count between two multiples goes to both (`Grid.completions`).
"""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

from ..core.allowance import PAIR, rests_on
from ..core.arithmetic import arb, fmpq
from ..core.bounds import Record
from ..core.certificate import Lines, Sizes
from ..core.channel import Channel
from ..core.counts import Pairs, completions
from ..core.model import Model
from ..core.noise import Geometric, noise_of
from ..core.numbers import need
from ..core.proof import Ceiling
from ..core.read import integer
from ..core.tree import Section


class Grid:
    """The multiples 0, w, 2 w, ... around all counts."""

    def __init__(self, model: Model, i: int, step: Any) -> None:
        self.model = model
        self.i = i
        n = len(model.alphabets)
        self.step = integer(step, "the step of a grid", 1, n)
        self.places = list(range(-(-n // self.step) + 1))
        epsilon: fmpq = noise_of({} if model.design else model.mechanism).epsilon
        need(epsilon is not None, "a grid needs a mechanism that adds two-sided geometric noise")
        self.epsilon = epsilon * self.step
        rests_on(model.allowance, "W2")

    def run(self, lines: Lines, upper: arb, tally: Counter[str]) -> None:
        """Walk the tree of the rounded count.

        Bound because the count's channel is a mixture: with the weight `share` that of the rounded count, and of another one, which
        reveals no more than the letters have; and because a prior and its rounding have the entropies of both.
        """
        model = self.model
        share = arb(-self.epsilon * self.epsilon / 8).exp()
        rest = (1 - share) * arb(model.alphabets[self.i]).log()
        ceiling = Ceiling((upper - rest) / share, model.entropy_ball() + arb(self.step).log())
        with model.allowance.holding():
            about = "grid", len(self.places), str(self.epsilon)
            channel = lines.known.channel(model, self.channel, *about) if lines.known else self.channel(model)
            assert channel is not None
            _Section(lines, model, Record(channel, self.completions()), tally, self.i).run(ceiling)

    def channel(self, model: Model) -> Channel:
        """Noise on the numbers of the multiples."""
        noise = Geometric({"epsilon": self.epsilon})
        return Channel(noise.rows(self.places, model.allowance), self.places, model.allowance)

    def completions(self) -> list[Pairs]:
        """For each letter the multiples, ascending, with settings of the others and of a number below w that is added and cut off."""
        found = list[Pairs]()
        for pairs in completions(self.model, self.i, list(range(len(self.model.alphabets) + 1))):
            near = Counter[int]()
            for k, n in pairs:
                self.model.allowance.look()
                place, beyond = divmod(k, self.step)
                near[place] += n * (self.step - beyond)
                if beyond:
                    near[place + 1] += n * beyond
            self.model.allowance.take(len(near) * PAIR)
            found.append(sorted(near.items()))
        return found


class _Section(Section):
    """The tree, of leaves that are about nothing but the record channel."""

    nodes: ClassVar[Sizes] = {
        name: size for name, size in Section.nodes.items() if name not in ("uniform", "informed", "ends")
    }
