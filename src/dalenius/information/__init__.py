"""Entropy and mutual information of arrays of probabilities, in nats; 0 log 0 = 0 is handled here and nowhere else."""

from dalenius.information.entropies import (
    above_tangent,
    binary_entropy,
    entropy,
    log_sum_exp,
    mutual_information,
    relative_entropy,
    x_log_x,
)

__all__ = [
    "above_tangent",
    "binary_entropy",
    "entropy",
    "log_sum_exp",
    "mutual_information",
    "relative_entropy",
    "x_log_x",
]
