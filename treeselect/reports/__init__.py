"""Pages and figures.

In come results, comparisons and templates; out come one HTML file that opens anywhere, or a figure
of matplotlib. Nothing is computed here.
"""
