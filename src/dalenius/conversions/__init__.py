"""From one notion of privacy to another: rules with their theorems, and the search for the best chain of them.

`convert` is the door; `RULES` the shelf, a theorem each; `NOTIONS` what there is to convert between.
"""

from cvxcertify.faces import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
