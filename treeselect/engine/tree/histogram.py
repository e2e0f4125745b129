"""Sums of moments per code: eight columns at once, or one column.

A histogram has a cell per code. A cell is one integer (``MEAN``), two (``NEWTON``: the moment and
the curvature) or one per class.
"""

from __future__ import annotations

import numpy as np

from treeselect.engine.compiling import AHEAD, inlined, inner, lowest_bit, prefetch
from treeselect.engine.tree.target import Target, has_outputs, has_pairs

_BYTE = np.uint64(255)
_ONE = np.uint64(1)
_SIX, _63, _1024 = (np.uint64(n) for n in (6, 63, 1024))

MOST_CODES = 2**16
"""Codes that a wide column may hold."""

SMALL_NODE = 128
"""Up to this many rows a node lists the codes it touches instead of walking all 255."""


@inner
def clear(array):
    """Set an array of one dimension to 0."""
    for i in range(array.shape[0]):
        array[i] = 0


def cell_size(target: Target) -> int:
    """Integers in a cell."""
    if target.has_outputs:
        return target.n_classes
    return 2 if target.has_pairs else 1


@inner
def room_of_bytes(kind, n_classes):
    """Integers in the histograms of eight columns, or of one if there are classes; that of a wide
    column stands behind them."""
    if has_outputs(kind):
        return 256 * n_classes
    return 4096 if has_pairs(kind) else 2048


@inner
def cell_of(word, k):
    """Cell of byte `k` of a word; loops over these are unrolled."""
    return np.uint64(256 * k) + ((word >> np.uint64(8 * k)) & _BYTE)


@inner
def add_pair(histogram, cell, moment, second):
    """Add to both integers of a cell."""
    histogram[cell << _ONE] += moment
    histogram[(cell << _ONE) + _ONE] += second


@inner
def add_block(block, rows, moments, seconds, histogram):
    """Add rows, with their moments, of eight columns, whose codes are the bytes of `block`, to
    their histograms: that of column ``k`` begins at cell ``256 * k``. Cells have two integers if
    there are `seconds`."""
    n = rows.shape[0]
    if seconds.shape[0] > 0:
        for r in range(n):
            prefetch(block, np.int64(rows[min(r + AHEAD, n - 1)]))
            word, moment, second = block[rows[r]], moments[r], seconds[r]
            for k in range(8):
                add_pair(histogram, cell_of(word, k), moment, second)
        return
    for r in range(n):
        prefetch(block, np.int64(rows[min(r + AHEAD, n - 1)]))
        word, moment = block[rows[r]], moments[r]
        for k in range(8):
            histogram[cell_of(word, k)] += moment


@inner
def add_words(words, moments, n_columns, histogram):
    """As :func:`add_block` for rows whose codes stand in their order, of the first columns."""
    for first in range(0, n_columns, 4):
        if n_columns - first > 2:
            add_four(words, np.uint64(8 * first), moments, histogram[256 * first :])
        else:
            add_two(words, np.uint64(8 * first), moments, histogram[256 * first :])


@inner
def add_four(words, shift, moments, histogram):
    """Add rows to the histograms of four columns, whose codes are the bytes from a bit on."""
    for r in range(words.shape[0]):
        word, moment = words[r] >> shift, moments[r]
        for k in range(4):
            histogram[cell_of(word, k)] += moment


@inner
def add_two(words, shift, moments, histogram):
    """As :func:`add_four` for two columns."""
    for r in range(words.shape[0]):
        word, moment = words[r] >> shift, moments[r]
        for k in range(2):
            histogram[cell_of(word, k)] += moment


@inner
def add_byte(words, shift, moments, histogram):
    """As :func:`add_four` for one column."""
    for r in range(words.shape[0]):
        histogram[(words[r] >> shift) & _BYTE] += moments[r]


@inner
def list_bytes(words, shift, touched, present, cells):
    """As :func:`list_codes` for codes that are the bytes of words from a bit on."""
    for r in range(words.shape[0]):
        code = (words[r] >> shift) & _BYTE
        cells[r] = code
        touched[code >> _SIX] |= _ONE << (code & _63)
    touched[0] |= _ONE
    n = 0
    for word in range(4):
        n = list_word(touched, word, present, n)
    return n


@inner
def add_column(codes, rows, moments, seconds, histogram):
    """Add rows of one column to its histogram; to pairs of integers if there are `seconds`."""
    if seconds.shape[0] > 0:
        for r in range(rows.shape[0]):
            add_pair(histogram, np.uint64(codes[rows[r]]), moments[r], seconds[r])
    else:
        for r in range(rows.shape[0]):
            histogram[codes[rows[r]]] += moments[r]


@inlined
def add_cells(cells, moments, seconds, histogram):
    """Add rows to the cell of each; to pairs of integers if there are `seconds`."""
    if seconds.shape[0] > 0:
        for r in range(cells.shape[0]):
            add_pair(histogram, np.uint64(cells[r]), moments[r], seconds[r])
    else:
        for r in range(cells.shape[0]):
            histogram[cells[r]] += moments[r]


@inlined
def add_cells_of_classes(cells, moments, labels, n_classes, histogram):
    """As :func:`add_cells` for a cell of one integer per class."""
    for r in range(cells.shape[0]):
        cell = np.int64(cells[r]) * n_classes + labels[r]
        histogram[np.uint64(cell)] += moments[r]


@inner
def add_cells_of_vectors(cells, moments, n_outputs, histogram):
    """As :func:`add_cells` for a cell of one integer per output; moments row after row."""
    for r in range(cells.shape[0]):
        first = np.int64(cells[r]) * n_outputs
        cell = histogram[first : first + n_outputs]
        own = moments[r * n_outputs : (r + 1) * n_outputs]
        for k in range(n_outputs):
            cell[k] += own[k]


@inlined
def list_codes(codes, rows, touched, present, cells):
    """List the codes that rows have, in order, after code 0, which is always listed, in `present`,
    and that of each row in `cells`; returns how many they are. `touched` is zero before and
    after."""
    for r in range(rows.shape[0]):
        code = np.uint64(codes[rows[r]])
        cells[r] = code
        touched[code >> _SIX] |= _ONE << (code & _63)
    touched[0] |= _ONE
    n = 0
    for word in range(4):
        n = list_word(touched, word, present, n)
    return n


@inner
def list_wide_codes(codes, rows, touched, present, cells):
    """As :func:`list_codes` for a wide column; `present` has shape (65537,). ``touched`` has a bit
    for each code, and from word 1024 on a bit for each of these words."""
    for r in range(rows.shape[0]):
        code = np.uint64(codes[rows[r]])
        cells[r] = code
        word = code >> _SIX
        touched[word] |= _ONE << (code & _63)
        touched[_1024 + (word >> _SIX)] |= _ONE << (word & _63)
    touched[0] |= _ONE
    touched[1024] |= _ONE
    n = 0
    for group in range(16):
        words = touched[1024 + group]
        touched[1024 + group] = np.uint64(0)
        while words != 0:
            n = list_word(touched, 64 * group + lowest_bit(words), present, n)
            words &= words - _ONE
    return n


@inner
def list_word(touched, word, present, n):
    """List the codes of one word after the first n, and clear it; how many are listed then."""
    bits = touched[word]
    touched[word] = np.uint64(0)
    while bits != 0:
        present[n] = 64 * word + lowest_bit(bits)
        n += 1
        bits &= bits - _ONE
    return n
