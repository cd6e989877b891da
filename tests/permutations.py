"""Groups of permutations."""

from collections.abc import Sequence

__all__ = ["generated"]


def generated(generators: Sequence[Sequence[int]], size: int) -> set[tuple[int, ...]]:
    """All permutations of so many places that some of them generate."""
    known = {tuple(range(size))}
    queue = list(known)
    while queue:
        x = queue.pop()
        for g in generators:
            y = tuple(g[j] for j in x)
            if y not in known:
                known.add(y)
                queue.append(y)
    return known
