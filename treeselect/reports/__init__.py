"""Pages and figures.

Turns results, comparisons and templates into self-contained HTML files and matplotlib figures.
Nothing is computed here.
"""
