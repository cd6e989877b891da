"""The cones in doubles agree with the exact ones; a step that is short in the local norm stays inside."""

import numpy as np
import pytest
from flint import fmpq

from campaigns import draws
from cvxcertify.geometry import Geometry
from cvxcertify.instance import Cone, Instance, exactly
from cvxcertify.membership import in_dual

CONES = (
    Cone("zero", 2),
    Cone("nonnegative", 2),
    Cone("second-order", 4),
    Cone("exponential", 3),
    Cone("semidefinite", 6),
)
SIZE = sum(cone.size for cone in CONES)
ALL = Instance((fmpq(0),), fmpq(0), ({},) * SIZE, (fmpq(0),) * SIZE, CONES, ("x",))


def outside(z):
    """The kinds of cones whose duals these multipliers are certainly not in."""
    parts = zip(ALL.cones, ALL.places, strict=True)
    return [cone.kind for cone, places in parts if not in_dual(cone, [exactly(z[row]) for row in places])]


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_short_steps_from_the_inside_stay_inside(scale):
    geometry, rng = Geometry(ALL), np.random.default_rng(0)
    for _ in range(draws(30, 1000)):
        z = geometry.inward(rng.normal(size=SIZE) * scale, 10.0 ** rng.uniform(-6, 0) * scale)
        assert geometry.inside(z)
        assert not outside(z)
        reach = geometry.reach(z)
        step = rng.normal(size=reach.shape[1])
        assert not outside(z + reach @ (0.999 * step / np.linalg.norm(step)))


def test_the_reach_is_as_long_as_it_can_be_in_some_direction():
    """Twice the way along the ray towards the tip leaves the dual cone, up to the cone's parameter."""
    geometry, rng = Geometry(ALL), np.random.default_rng(1)
    z = geometry.inward(rng.normal(size=SIZE), 0.1)
    reach = geometry.reach(z)
    for cone, places in list(zip(ALL.cones, ALL.places, strict=True))[1:]:
        far = np.zeros(SIZE)
        far[places.start : places.stop] = -z[places.start : places.stop]
        least = np.linalg.lstsq(reach.toarray(), far, rcond=None)[0]
        assert np.linalg.norm(least) == pytest.approx(
            {"exponential": 3, "semidefinite": 3}.get(cone.kind, 2) ** 0.5, rel=1e-6
        )


def test_inward_leaves_what_is_inside():
    geometry, rng = Geometry(ALL), np.random.default_rng(2)
    z = geometry.inward(rng.normal(size=SIZE), 0.5)
    assert geometry.inward(z, 1e-3) == pytest.approx(z, abs=1e-12)
