"""Figures with matplotlib, an optional extra.

Draws results and comparisons from their tables on axes. Nothing is computed here.
"""
