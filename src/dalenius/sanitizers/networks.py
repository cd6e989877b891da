"""The networks (extra: torch)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

__all__ = ["Critic", "Release", "deterministic", "layers", "whitened"]


def layers(sizes: list[int], activation: type[nn.Module]) -> nn.Sequential:
    """A multilayer perceptron: as many linear maps as there are neighbours in `sizes`, with the activation between them."""
    parts: list[nn.Module] = []
    for before, after in itertools.pairwise(sizes):
        parts += [nn.Linear(before, after), activation()]
    return nn.Sequential(*parts[:-1])


def whitened(sizes: list[int], activation: type[nn.Module]) -> nn.Sequential:
    """The same, whose inputs are whitened first."""
    return nn.Sequential(Whitening(sizes[0]), *layers(sizes, activation))


class Whitening(nn.Module):
    """x -> C^-1 (x - m), C C' the covariance and m the mean: of the batch while learning, averaged over batches after.

    Noise that drowns some directions of the data leaves others as they are; without whitening a network would have to find those
    first.
    """

    mean: torch.Tensor
    covariance: torch.Tensor

    def __init__(self, size: int, memory: float = 0.95, floor: float = 1e-5) -> None:
        super().__init__()
        self.memory, self.floor = memory, floor
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("covariance", torch.eye(size))

    def forward(self, data: torch.Tensor) -> torch.Tensor:
        """Rows that have mean 0 and the identity as their covariance, nearly."""
        if not self.training:
            return self._white(data, self.mean, self.covariance)
        mean, covariance = data.mean(0), torch.cov(data.T)
        with torch.no_grad():
            self.mean.lerp_(mean, 1 - self.memory)
            self.covariance.lerp_(covariance, 1 - self.memory)
        return self._white(data, mean, covariance)

    def _white(self, data: torch.Tensor, mean: torch.Tensor, covariance: torch.Tensor) -> torch.Tensor:
        scale = covariance.diagonal().mean() * self.floor
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
