"""Many trees, and what is read from them.

In come data, a target and how trees follow each other; out come trees, and their predictions,
leaves, importances and partial dependence.
"""
