"""How trees grow: arrays, columns and groups by number; no names, no data frames.

Rooms, each of which imports from those above it only:

- ``tree``: targets and their exact sums, the best split of a node, one tree.
- ``forest``: forests and boosting, and what is read from them: predictions, out-of-bag
  predictions, importances, partial dependence.
- ``linear``: generalised linear models, the group lasso, the path of a non-negative lasso.
- ``sparse``: the sparse forest of ControlBurn, its path and its best subsets.
- ``survival``: times until an event: likelihood, curves and their scores.

Beside them stand ``arrays`` (names of types), ``compiling`` (of kernels), ``random``,
``rounding`` (what counts as equal), ``threads``, ``losses`` and ``columns`` (their codes). Fast
kernels have a twin of a few lines in the tests, which defines them.
"""
