"""Random streams for kernels: splitmix64, one stream for each tree.

A stream is seeded by what it is for (seed, resample, forest, tree) and never shared, so no answer
depends on the order in which trees are grown or on the number of threads.
"""

from __future__ import annotations

import hashlib
import operator
from functools import lru_cache

import numpy as np

from treeselect.engine.arrays import UInt64Array
from treeselect.engine.compiling import inner

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_U27 = np.uint64(27)
_U30 = np.uint64(30)
_U31 = np.uint64(31)
_U32 = np.uint64(32)


def stream_seed(*parts: int | str) -> int:
    """Seed of the stream that belongs to these parts, in [0, 2**64), a hash of them: for example
    ``stream_seed(7, "bootstrap", 12)``. Whole numbers of numpy are those of Python."""
    return int.from_bytes(_hash_of(_text(*parts)), "little")


def tree_seeds(seed: int, n_trees: int) -> UInt64Array:
    """One stream seed per tree, shape (n_trees,), of the ensemble that `seed` stands for: that of
    tree i is ``stream_seed(seed, "tree", i)``."""
    first = _text(seed, "tree", 0)[:-1]  # all parts but the last one's number, 0
    return np.frombuffer(_hashes(first, n_trees), dtype="<u8").astype(np.uint64)


@lru_cache(maxsize=32)
def _hashes(first: str, n: int) -> bytes:
    """Hashes of `first` with each number below `n`: forests that are compared have the same bags,
    so that the same ones are needed again and again."""
    return b"".join([_hash_of(f"{first}{i}") for i in range(n)])


def _text(*parts: int | str) -> str:
    return "\x1f".join(
        f"str:{part}" if isinstance(part, str) else f"int:{operator.index(part)}" for part in parts
    )


def _hash_of(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


@inner
def next_random(state):
    """Next 64 random bits; `state` is one uint64 and is advanced."""
    state[0] += _STEP
    z = state[0]
    z = (z ^ (z >> _U30)) * _MIX_1
    z = (z ^ (z >> _U27)) * _MIX_2
    return z ^ (z >> _U31)


@inner
def random_below(state, bound):
    """Random integer in [0, bound), for bounds below 2**32."""
    return np.int64(((next_random(state) >> _U32) * np.uint64(bound)) >> _U32)


@inner
def draw_bag(state, rows, start, replace, share, counts, spare):
    """Draw a share of `rows`, with replacement or without; count them in `counts`. `rows` holds the
    distinct rows with positive weight; `spare` is working memory, at least as long. With groups
    these are drawn, each with all its rows: those of group g are from ``start[g]`` to ``start[g +
    1] - 1`` in `rows`; without, `start` is empty."""
    for i in range(counts.shape[0]):
        counts[i] = 0
    is_single = start.shape[0] == 0
    n = rows.shape[0] if is_single else start.shape[0] - 1
    drawn = max(int(np.rint(share * n)), 1)
    for g in range(n):
        spare[g] = g
    for d in range(drawn):
        own = np.int64(d)
        if replace:
            own = random_below(state, n)
        elif drawn < n:
            other = d + random_below(state, n - d)
            spare[d], spare[other] = spare[other], spare[d]
            own = np.int64(spare[d])
        if is_single:
            counts[rows[own]] += 1
        else:
            for r in range(start[own], start[own + 1]):
                counts[rows[r]] += 1
