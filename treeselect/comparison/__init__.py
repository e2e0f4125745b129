"""Methods side by side.

Input: methods, folds and one problem. Output: scores, sizes, stability and differences, in tables
and words.
"""
