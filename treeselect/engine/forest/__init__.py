"""Many trees, and what is read from them.

Input: data, a target and how trees follow each other. Output: trees, and their predictions,
leaves, importances and partial dependence.
"""
