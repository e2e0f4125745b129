"""Methods side by side.

In come methods, folds and one problem; out come scores, sizes, stability and differences, in tables
and words.
"""
