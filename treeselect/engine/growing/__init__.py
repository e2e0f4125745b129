"""One tree.

In come data, a target and rules of growth; out come nodes.
"""
