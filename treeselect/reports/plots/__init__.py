"""Figures with matplotlib, an optional extra.

In come results and comparisons with their tables; out come axes. Nothing is computed here.
"""
