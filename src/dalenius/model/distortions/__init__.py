"""The shelf of distortions: one small file each; `DISTORTIONS` maps the model file's `kind` to the class."""

from dalenius.model.distortions.absolute import Absolute
from dalenius.model.distortions.base import Distortion
from dalenius.model.distortions.hamming import Hamming
from dalenius.model.distortions.matrix import DistortionMatrix
from dalenius.model.distortions.squared import Squared

__all__ = ["DISTORTIONS", "Absolute", "Distortion", "DistortionMatrix", "Hamming", "Squared"]

DISTORTIONS: dict[str, type[Distortion]] = {
    distortion.kind: distortion for distortion in (Hamming, Absolute, Squared, DistortionMatrix)
}
