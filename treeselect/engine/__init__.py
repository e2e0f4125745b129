"""How trees grow: arrays, columns and groups by number; no names, no data frames.

Rooms, each of which imports from those above it only:

- ``data``: columns as byte codes, targets, a gradient and a weight packed into one integer.
- ``splitting``: the best split of a node, and the penalty of using a new group.
- ``growing``: one tree, in order or best first.
- ``ensembles``: forests and boosting, and what is read from them: predictions, out-of-bag
  predictions, importances, partial dependence.
- ``linear``: generalised linear models, the group lasso, the path of a non-negative lasso.
- ``sparse``: the sparse forest of ControlBurn, its path and its best subsets; it imports ``linear``
  but none of the rooms that grow trees.

Beside them stand ``arrays`` (names of types), ``cache`` (how kernels are compiled), ``random``,
``rounding`` (what counts as equal), ``intrinsics``, ``blas`` and ``losses``. Fast kernels have a
twin of a few lines in the tests, which defines them.
"""
