"""The shelf of mechanisms: one small file each; `MECHANISMS` maps the model file's `kind` to the class.

`DesignedMechanism` has no kind of its own: in a model file it is the `matrix` of its rows. The lower-case factory functions stand in
the files of their names.
"""

from dalenius.model.mechanisms.base import Mechanism
from dalenius.model.mechanisms.designed import DesignedMechanism
from dalenius.model.mechanisms.exponential import Exponential
from dalenius.model.mechanisms.geometric import Geometric
from dalenius.model.mechanisms.laplace_threshold import LaplaceThreshold
from dalenius.model.mechanisms.matrix import Channel
from dalenius.model.mechanisms.randomized_response import RandomizedResponse
from dalenius.model.mechanisms.symmetric import Symmetric

__all__ = [
    "MECHANISMS",
    "Channel",
    "DesignedMechanism",
    "Exponential",
    "Geometric",
    "LaplaceThreshold",
    "Mechanism",
    "RandomizedResponse",
    "Symmetric",
]

MECHANISMS: dict[str, type[Mechanism]] = {
    mechanism.kind: mechanism
    for mechanism in (Channel, Symmetric, RandomizedResponse, LaplaceThreshold, Geometric, Exponential)
}
