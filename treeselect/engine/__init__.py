"""How trees grow: arrays, columns and groups by number; no names, no data frames.

``binning`` turns columns into byte codes, ``moments`` packs a gradient and a weight into one
integer, ``histograms`` adds them up, ``splitting`` finds the best split of a node, ``growing``
grows one tree, ``ensembles`` and ``bag_boosting`` are loops around it, ``prediction`` walks rows
through them, ``tree_weights`` is the sparse-forest problem and ``weight_path`` its path.
Fast kernels have a twin of a few lines in ``naive``, which defines them.
"""
