"""The shelf of distortions: one small file each; `DISTORTIONS` maps the model file's `kind` to the class."""

from dalenius.problems.distortions.absolute import Absolute
from dalenius.problems.distortions.base import Distortion
from dalenius.problems.distortions.hamming import Hamming
from dalenius.problems.distortions.matrix import DistortionMatrix
from dalenius.problems.distortions.squared import Squared

__all__ = ["DISTORTIONS", "Absolute", "Distortion", "DistortionMatrix", "Hamming", "Squared"]

DISTORTIONS: dict[str, type[Distortion]] = {
    distortion.kind: distortion for distortion in (Hamming, Absolute, Squared, DistortionMatrix)
}
