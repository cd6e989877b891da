"""The growing of a dual bound's trees, with trees that are not there."""

from types import SimpleNamespace

import numpy as np

from dalenius.audits.bounds.dual_tree import DualBound
from dalenius.audits.bounds.dual_work import _grown


def test_no_tree_grows_where_any_bound_is_enough():
    """Of a tree that was cut off before it had a bound, and with no level to reach, nothing is subtracted."""
    trees = tuple(SimpleNamespace(upper=upper, leaves=1) for upper in (np.inf, 1.0))
    bound = DualBound(np.inf, 0.7, np.ones(2) / 2, 1e-3, None, trees)
    turn = SimpleNamespace(tell=lambda upper, nodes: None, grown=lambda now: None)
    endless = np.full(2, np.inf)
    with np.errstate(all="raise"):
        found = _grown(SimpleNamespace(granted=0.0), bound, endless, endless, np.inf, None, turn)
    assert np.isinf(found.upper)
    assert found.trees == trees
