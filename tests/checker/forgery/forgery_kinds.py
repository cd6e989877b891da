"""Kinds of forgery: each edits a draft, a copy of an honest certificate, in place. Written from docs/certificate-format.md alone.

A kind says False if it does not apply. None of them minds whether what it leaves is well formed; the claim is put in afterwards.
"""

import forgery_chains
import forgery_classes
import forgery_constraints
import forgery_funnels
import forgery_limits
import forgery_lines
import forgery_meant
import forgery_protocols
import forgery_releases
import forgery_sums
import forgery_symmetries
import forgery_trees as trees
from forgery_designs import header, infeasible, mechanism, multipliers, off_budget, posterior, resolved
from forgery_drafts import Kind
from forgery_edits import (
    extreme,
    index,
    nothing,
    nudge,
    odd_spelling,
    of_one_kind,
    overreach,
    permute,
    shape,
    witness,
    wrong_type,
)

# How often a kind is tried, of those that a problem has: more often where it seldom applies
EVERYWHERE: dict[Kind, float] = {
    nothing: 1,
    nudge: 4,
    extreme: 2,
    odd_spelling: 0.7,
    wrong_type: 0.7,
    index: 1.5,
    of_one_kind: 2,
    permute: 2,
    shape: 0.7,
    trees.transplant: 1.5,
    header: 0.7,
}
TREES: dict[Kind, float] = {
    trees.drop_branch: 6,
    trees.twins: 6,
    trees.wrap: 4,
    trees.graft: 3,
    trees.other_leaf: 2,
    trees.same_as: 8,
    trees.threshold: 6,
    trees.joint: 4,
    trees.grouped: 5,
    forgery_lines.regrouped: 4,
    trees.sorted_rows: 5,
    trees.orbited: 5,
    forgery_symmetries.turned: 4,
    trees.imaged: 5,
}
PROOFS: dict[Kind, float] = {**TREES, trees.cut_short: 1, trees.records: 3, trees.some_lines: 2}
AUDITS: dict[Kind, float] = {
    witness: 2,
    overreach: 3,
    resolved: 0.2,
    **forgery_classes.CURVES,
    **forgery_chains.KINDS,
    **forgery_classes.KINDS,
    **forgery_protocols.KINDS,
    **forgery_releases.KINDS,
    **forgery_sums.KINDS,
    **forgery_meant.AUDITS,
}
DESIGNS: dict[Kind, float] = {
    mechanism: 3,
    off_budget: 4,
    multipliers: 4,
    posterior: 4,
    infeasible: 1,
    overreach: 3,
    **forgery_constraints.KINDS,
    **forgery_limits.KINDS,
    **forgery_lines.OBJECTIVES,
    **forgery_meant.DESIGNS,
}


def kinds(problem: str) -> dict[Kind, float]:
    """What can be forged in certificates of a problem, and how often it is tried."""
    if problem == "max_information":
        return {**EVERYWHERE, mechanism: 3, forgery_lines.planes: 6, **forgery_funnels.FUNNELS}
    if problem == "secret_leakage":
        return (
            EVERYWHERE
            | forgery_releases.SECRETS
            | forgery_meant.SECRETS
            | {trees.drop_branch: 3.0, trees.threshold: 2.0}
        )
    return EVERYWHERE | PROOFS | (AUDITS if problem == "maximal_leakage" else DESIGNS)
