"""Algorithm 1 of the f-divergence paper, with what its text leaves out or has wrong put right (extra: torch)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import nn

from dalenius.sanitizers.settings import (
    Attack,
    Outcome,
    Samples,
    Settings,
    chi_square_below,
    proportion_below,
    root_chi_square_of_guesses,
)

# The networks (extra: torch).


def layers(sizes: list[int], activation: type[nn.Module]) -> nn.Sequential:
    """A multilayer perceptron: as many linear maps as there are neighbours in `sizes`, with the activation between them."""
    parts: list[nn.Module] = []
    for before, after in itertools.pairwise(sizes):
        parts += [nn.Linear(before, after), activation()]
    return nn.Sequential(*parts[:-1])


def whitened(sizes: list[int], activation: type[nn.Module]) -> nn.Sequential:
    """The same, whose inputs are whitened first."""
    return nn.Sequential(Whitening(sizes[0]), *layers(sizes, activation))


MEMORY, FLOOR = 0.95, 1e-5  # of the averages over batches; of the mean variance, what every direction has besides


class Whitening(nn.Module):
    """x -> C^-1 (x - m), C C' the covariance and m the mean: of the batch while learning, averaged over batches after.

    Noise that drowns some directions of the data leaves others as they are; without whitening a network would have to find those
    first.
    """

    mean: torch.Tensor
    covariance: torch.Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("covariance", torch.eye(size))

    def forward(self, data: torch.Tensor) -> torch.Tensor:
        """Rows that have mean 0 and the identity as their covariance, nearly."""
        if not self.training:
            return self._white(data, self.mean, self.covariance)
        mean, covariance = data.mean(0), torch.cov(data.T)
        with torch.no_grad():
            self.mean.lerp_(mean, 1 - MEMORY)
            self.covariance.lerp_(covariance, 1 - MEMORY)
        return self._white(data, mean, covariance)

    def _white(self, data: torch.Tensor, mean: torch.Tensor, covariance: torch.Tensor) -> torch.Tensor:
        scale = covariance.diagonal().mean() * FLOOR
        root = torch.linalg.cholesky(covariance + scale * torch.eye(len(mean)))
        return torch.linalg.solve_triangular(root, (data - mean).T, upper=False).T


class Release(nn.Module):
    """Y = X + h(N): what a sanitizer adds is learned noise, independent of the data (section V-A)."""

    def __init__(self, size: int, noise: int, width: int, depth: int) -> None:
        super().__init__()
        self.noise = noise
        self.added = layers([noise, *[width] * (depth - 1), size], nn.LeakyReLU)

    def forward(self, data: torch.Tensor) -> torch.Tensor:
        """One release of each row, with fresh noise."""
        released: torch.Tensor = data + self.added(torch.randn(len(data), self.noise))
        return released


class Critic(nn.Module):
    """g(s, y) for all s at once: a row of values for each y."""

    def __init__(self, size: int, secrets: int, width: int, depth: int) -> None:
        super().__init__()
        self.scores = whitened([size, *[width] * (depth - 1), secrets], nn.ELU)

    def forward(self, released: torch.Tensor) -> torch.Tensor:
        """m x |S| values."""
        scores: torch.Tensor = self.scores(released)
        return scores

    def root_chi_square(self, released: torch.Tensor, secret: torch.Tensor, ridge: float) -> torch.Tensor:
        """The root of eq. (21), (E_p g - E_q g)^2 / (E_q g^2 + ridge), with the batch's own law of the secret in q."""
        values = self(released)
        law = torch.bincount(secret, minlength=values.shape[1]) / len(secret)
        joint = values.gather(1, secret[:, None]).mean()
        apart, square = joint - (values @ law).mean(), ((values * values) @ law).mean()
        return apart.abs() / torch.sqrt(square + ridge)


@contextmanager
def deterministic(seed: int) -> Iterator[None]:
    """One thread and one seed inside; as before outside."""
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.set_rng_state(state)


Tell = Callable[[int, int], bool]
Sanitizer = Callable[[torch.Tensor], torch.Tensor]
QUARTER, LATELY = (
    4,
    50,
)  # of the steps one part, after which the best start is chosen; steps whose losses say which that is
CLIP = 3.0  # a held-out critic's values are clipped to so many of their root mean squares


class Experiment(Protocol):
    """Source of the data."""

    def sample(self, count: int, seed: int) -> Samples:
        """Independent draws, the same for the same seed."""


@dataclass(frozen=True)
class Tensors:
    """Samples as tensors."""

    data: torch.Tensor
    secret: torch.Tensor
    label: torch.Tensor

    @classmethod
    def of(cls, samples: Samples) -> Tensors:
        """Data in single precision."""
        return cls(*(torch.from_numpy(a) for a in (samples.data.astype(np.float32), samples.secret, samples.label)))

    def batches(self, size: int) -> Iterator[Tensors]:
        """Random batches, without end; each row once before any comes again."""
        while True:
            for rows in torch.randperm(len(self.data)).split(size):
                if len(rows) == size:
                    yield Tensors(self.data[rows], self.secret[rows], self.label[rows])


class _Learner:
    """One sanitizer with its critic and its classifier, from random weights, and what a step of each does."""

    def __init__(self, data: Tensors, settings: Settings, secrets: int, labels: int) -> None:
        size, hidden = data.data.shape[1], [settings.width] * (settings.depth - 1)
        self.settings = settings
        self.release = Release(size, settings.noise, settings.width, settings.depth)
        self.critic = Critic(size, secrets, settings.width, settings.depth)
        self.classifier = whitened([size, *hidden, labels], nn.Tanh)
        self._outer, self._inner, self._useful = (
            torch.optim.Adam(part.parameters(), settings.rate) for part in (self.release, self.critic, self.classifier)
        )
        self._decay = falling(self._outer, settings)
        self._batches = data.batches(settings.batch)
        self.losses: list[float] = []

    def warm_up(self) -> None:
        """Critic and classifier alone."""
        for _ in range(self.settings.warm_up):
            self._teach()

    def step(self) -> None:
        """Critic and classifier by turns with the sanitizer, eq. (25)."""
        for _ in range(self.settings.inner_steps):
            self._teach()
        batch = next(self._batches)
        released = self.release(batch.data)
        told = self.critic.root_chi_square(released, batch.secret, self.settings.ridge)
        loss = nn.functional.cross_entropy(self.classifier(released), batch.label)
        loss = loss + self.settings.weight * told.clamp(min=self.settings.root_budget)
        step(self._outer, loss)
        self._decay.step()
        self.losses.append(loss.item())

    def _teach(self) -> None:
        batch = next(self._batches)
        with torch.no_grad():
            released = self.release(batch.data)
        step(self._inner, -self.critic.root_chi_square(released, batch.secret, self.settings.ridge))
        step(self._useful, nn.functional.cross_entropy(self.classifier(released), batch.label))

    @property
    def lately(self) -> float:
        """The mean loss of the last steps."""
        return float(np.mean(self.losses[-LATELY:])) if self.losses else 0.0


def train(samples: Samples, settings: Settings, tell: Tell = lambda done, steps: True) -> tuple[Sanitizer, int]:
    """Learn Y = X + h(N): minimise CE(U; Y) + lambda max( sqrt chi2(S; Y), sqrt eta ), eq. (25), by turns.

    A step: the critic and the classifier of U go up and down for `inner_steps` batches each with the sanitizer held, then the
    sanitizer goes one step
    with them held. The utility's loss is the cross-entropy, -log of the classifier's probability of the label (the printed
    formula takes the logarithm of the label).

    The loss has local minima in which noise drowns everything: no critic sees the secret any more, nor a classifier the label, and
    no slope leads out. So `starts` sanitizers are begun, each takes a quarter of the steps, and the one with the least loss the rest.

    Parameters
    ----------
    tell : callable
        Told the steps done and all there are; training stops where it answers False.

    Returns
    -------
    The sanitizer, and how many steps it was trained.
    """
    data, secrets, labels = Tensors.of(samples), int(samples.secret.max()) + 1, int(samples.label.max()) + 1
    tried = settings.steps // QUARTER if settings.starts > 1 else 0
    before, best = (settings.starts - 1) * tried, None

    def taught(learner: _Learner, steps: int, others: int) -> bool:
        """True if it was not stopped."""
        while len(learner.losses) < steps:
            if not tell(others + len(learner.losses), settings.steps + before):
                return False
            learner.step()
        return True

    for k in range(settings.starts):
        learner = _Learner(data, settings, secrets, labels)
        learner.warm_up()
        going_on = taught(learner, tried, k * tried)
        best = learner if best is None or learner.lately < best.lately else best
        if not going_on:
            break
    assert best is not None
    if going_on:
        taught(best, settings.steps, before)
    done = len(best.losses)
    tell(before + done, settings.steps + before)
    return torch.no_grad()(best.release), done


def held(experiment: Experiment, sanitizer: Sanitizer, settings: Settings) -> Outcome:
    """Measure a sanitizer: a fresh attack, classifier and critic, taught on new draws and held against others."""
    lessons, tests = (Tensors.of(experiment.sample(settings.tests, settings.seed + k)) for k in (1_000_003, 1_000_033))
    return judged(sanitizer, lessons, tests, settings)


def judged(
    sanitizer: Sanitizer, lessons: Tensors, tests: Tensors, settings: Settings, error: float | None = None
) -> Outcome:
    """The same for given draws: those to learn from, and those that are held out."""
    shown = sanitizer(tests.data)
    attack = attacked(sanitizer, lessons.data, lessons.secret, shown, tests.secret, settings)
    useful = attacked(sanitizer, lessons.data, lessons.label, shown, tests.label, settings)
    seen, below = critic_of(sanitizer, lessons, shown, tests.secret, settings)
    count = len(tests.secret)
    share = 1 - proportion_below(count - int(torch.bincount(tests.secret).max()), count, settings.confidence)
    told = max(below, root_chi_square_of_guesses(attack.at_least, share))
    return Outcome(attack, useful, seen, told, error)


def attacked(
    sanitizer: Sanitizer,
    data: torch.Tensor,
    truth: torch.Tensor,
    shown: torch.Tensor,
    answers: torch.Tensor,
    settings: Settings,
) -> Attack:
    """A network that has never met the sanitizer learns to tell `truth` from releases of `data`, and is tested on `shown`.

    Each batch is released anew: a network that saw a few releases of each row would learn their noise by heart, and guess others
    no better than chance.
    """
    network = whitened([shown.shape[1], *[settings.width] * 3, int(truth.max()) + 1], nn.ReLU)
    optimizer = torch.optim.Adam(network.parameters(), settings.rate)
    lessons = Tensors(data, truth, truth).batches(min(settings.batch, len(data)))
    for _ in range(settings.steps):
        batch = next(lessons)
        step(optimizer, nn.functional.cross_entropy(network(sanitizer(batch.data)), batch.secret))
    network.eval()
    with torch.no_grad():
        scores = network(shown)
    right = int((scores.argmax(1) == answers).sum())
    loss = float(nn.functional.cross_entropy(scores, answers))
    return Attack(right / len(answers), loss, proportion_below(right, len(answers), settings.confidence))


def critic_of(
    sanitizer: Sanitizer, lessons: Tensors, shown: torch.Tensor, hidden: torch.Tensor, settings: Settings
) -> tuple[float, float]:
    """A fresh critic's sqrt chi2 on draws it has not seen, and a confidence bound below it.

    It learns from batches that are released anew, as an attack does. Half of the draws stand for the joint law; the other half's
    releases, with secrets of the halves' own shuffling apart, for the product.
    """
    critic = Critic(shown.shape[1], int(lessons.secret.max()) + 1, settings.width, settings.depth)
    optimizer = torch.optim.Adam(critic.parameters(), settings.rate)
    batches = lessons.batches(min(settings.batch, len(lessons.secret)))
    for _ in range(settings.steps):
        batch = next(batches)
        step(optimizer, -critic.root_chi_square(sanitizer(batch.data), batch.secret, settings.ridge))
    critic.eval()
    with torch.no_grad():
        law = torch.bincount(lessons.secret) / len(lessons.secret)
        known, values = (critic(rows).double().numpy() for rows in (sanitizer(lessons.data), shown))
    centre = float((known @ law.double().numpy()).mean())
    bound = CLIP * float(np.sqrt(np.mean((known - centre) ** 2)))
    values = np.clip(values - centre, -bound, bound)
    half, quarter = len(values) // 2, len(values) // 4
    joint = values[np.arange(half), hidden[:half].numpy()]
    strangers = values[np.arange(half, half + quarter), hidden[half + quarter : half + 2 * quarter].numpy()]
    seen = abs(joint.mean() - strangers.mean()) / max(float(np.sqrt(np.mean(strangers**2))), 1e-12)
    below = chi_square_below(joint, strangers, strangers**2, bound=bound, confidence=settings.confidence)
    return float(seen), below**0.5


def falling(optimizer: torch.optim.Optimizer, settings: Settings) -> torch.optim.lr_scheduler.LRScheduler:
    """A sanitizer's step size: it falls linearly, nearly to 0, as otherwise the last steps oscillate about the budget."""
    return torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 1e-3, total_iters=settings.steps)


def step(optimizer: torch.optim.Optimizer, loss: torch.Tensor) -> None:
    """One step of an optimizer down a loss."""
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
