"""Rows of a node, or of a bag, side by side: kernels then read memory in its order."""

from __future__ import annotations

from treeselect.engine.cache import inlined, inner
from treeselect.engine.data.targets import has_outputs, has_pairs, is_vector


@inlined
def gather_rows(pack, work, begin, end):
    """Put what belongs to the rows of a node side by side."""
    for r in range(begin, end):
        i = work.rows[r]
        if is_vector(pack.kind):
            for k in range(pack.n_classes):
                work.leaf_second[r * pack.n_classes + k] = work.second[i * pack.n_classes + k]
            continue
        work.leaf_moments[r] = work.moments[i]
        if has_pairs(pack.kind):
            work.leaf_second[r] = work.second[i]
        elif has_outputs(pack.kind):
            work.leaf_label[r] = work.label[i]


@inner
def carry_rows(blocks, work, n_in):
    """Put the codes and moments of the rows of a bag side by side (see ``growth.carries``)."""
    for r in range(n_in):
        work.leaf_moments[r] = work.moments[work.rows[r]]
    for block in range(work.words.shape[0]):
        for r in range(n_in):
            work.words[block, r] = blocks[block, work.rows[r]]
