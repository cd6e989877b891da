"""cvxcertify: the optimal value of any convex model of cvxpy in a proved interval, from any solver's numbers (README.md).

`certify(problem)` makes the interval. `cvxcertify.check` checks its proof, with `dalenius_check` and nothing else: so all names are
imported where they are asked for.
"""

from cvxcertify.faces import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
