"""Handwritten digits, released as the latent variable of an autoencoder (extra: torch).

A substitute for the image experiments of the f-divergence paper (section V-B), whose data are not free to pass on: 1797 images
of 8 x 8 that
scikit-learn has with it (E. Alpaydin and C. Kaynak). The secret is the parity of the digit, the label whether it is at least 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch
from torch import nn

from dalenius.sanitizers.converse_bound import Converse, converse
from dalenius.sanitizers.settings import Outcome, Samples, Settings
from dalenius.sanitizers.training import Critic, Sanitizer, Tell, Tensors, falling, judged, layers, step

LATENT, HIDDEN = 16, [128, 128]
VARIANCE = 0.05  # of a pixel, given the latent variable
LEARNED = 1200  # of the images; the others are held out


class Autoencoder(nn.Module):
    """An encoder that releases Y ~ N(mu(X), diag sigma(X)^2), and a decoder."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.encoder = layers([size, *HIDDEN, 2 * LATENT], nn.ReLU)
        self.decoder = layers([LATENT, *HIDDEN, size], nn.ReLU)

    def laws(self, data: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Means, and logarithms of variances."""
        mean, spread = self.encoder(data).chunk(2, dim=1)
        return mean, spread.clamp(-8.0, 8.0)

    def forward(self, data: torch.Tensor) -> torch.Tensor:
        """One release of each row."""
        mean, spread = self.laws(data)
        return mean + (spread / 2).exp() * torch.randn_like(mean)

    def loss(self, data: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """A release, and the evidence lower bound (26), negated, a pixel."""
        mean, spread = self.laws(data)
        released = mean + (spread / 2).exp() * torch.randn_like(mean)
        error = (self.decoder(released) - data).square().sum(1) / (2 * VARIANCE)
        divergence = (mean.square() + spread.exp() - 1 - spread).sum(1) / 2
        return released, (error + divergence).mean() / data.shape[1]


@dataclass(frozen=True)
class DigitImages:
    """The images, split by the seed into those that are learned from and those that are held out."""

    lessons: Samples
    tests: Samples

    @classmethod
    def drawn(cls, seed: int = 0) -> DigitImages:
        """The split of this seed (needs scikit-learn)."""
        from sklearn.datasets import load_digits

        found = load_digits()
        digits = np.asarray(found.target, dtype=np.int64)
        images = Samples(np.asarray(found.data, dtype=float) / 16, digits % 2, (digits >= 5).astype(np.int64))
        rows = np.random.default_rng(seed).permutation(len(images))
        return cls(images.take(rows[:LEARNED]), images.take(rows[LEARNED:]))

    def converse(self, budget: Fraction) -> Converse:
        """The converse under the law of the held-out images themselves, for sanitizers that are even shown secret and label."""
        cells = [(s, u) for s in (0, 1) for u in (0, 1)]
        count = [int(np.sum((self.tests.secret == s) & (self.tests.label == u))) for s, u in cells]
        shares = [Fraction(k, len(self.tests)) for k in count]
        return converse(
            [
                [[shares[2 * s + u] if x == 2 * s + u else Fraction(0) for x in range(4)] for u in (0, 1)]
                for s in (0, 1)
            ],
            budget,
        )

    def train(self, method: str, settings: Settings, tell: Tell) -> tuple[Autoencoder, int]:
        """The autoencoder with the classifier of the label, and the method's charge for what is revealed about the secret.

        "vae": none; "gap": minus lambda times an adversary's cross-entropy (generative adversarial privacy); "chi2": lambda times
        the larger of sqrt chi2 and sqrt eta.
        """
        data, size = Tensors.of(self.lessons), self.lessons.data.shape[1]
        model, label = Autoencoder(size), layers([LATENT, settings.width, 2], nn.ReLU)
        critic = Critic(LATENT, 2, settings.width, settings.depth)
        adversary = layers([LATENT, *[settings.width] * 3, 2], nn.ReLU)
        outer = torch.optim.Adam([*model.parameters(), *label.parameters()], settings.rate)
        inner = torch.optim.Adam([*critic.parameters(), *adversary.parameters()], settings.rate)
        decay = falling(outer, settings)
        batches = data.batches(min(settings.batch, len(self.lessons)))

        def told(released: torch.Tensor, secret: torch.Tensor) -> torch.Tensor:
            if method == "gap":
                return -nn.functional.cross_entropy(adversary(released), secret)
            return critic.root_chi_square(released, secret, settings.ridge)

        def teach() -> None:
            """A step of the critic, or the adversary."""
            batch = next(batches)
            with torch.no_grad():
                released = model(batch.data)
            step(inner, -told(released, batch.secret))

        charged, done = method != "vae", 0
        for _ in range(settings.warm_up if charged else 0):
            teach()
        while done < settings.steps and tell(done, settings.steps):
            for _ in range(settings.inner_steps if charged else 0):
                teach()
            batch = next(batches)
            released, loss = model.loss(batch.data)
            loss = loss + nn.functional.cross_entropy(label(released), batch.label)
            if charged:
                charge = told(released, batch.secret)
                loss = loss + settings.weight * (charge if method == "gap" else charge.clamp(min=settings.root_budget))
            step(outer, loss)
            decay.step()
            done += 1
        tell(done, settings.steps)
        return model, done

    def held(self, model: Autoencoder, settings: Settings) -> Outcome:
        """Measure attackers, trained on other releases, on releases of held-out images; and how well images come back."""
        lessons, tests = (Tensors.of(part) for part in (self.lessons, self.tests))
        release: Sanitizer = torch.no_grad()(model)
        with torch.no_grad():
            back = float((model.decoder(release(tests.data)) - tests.data).square().mean())
        return judged(release, lessons, tests, settings, back)
