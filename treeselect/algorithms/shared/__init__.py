"""What several methods have in common.

In come problems and options; out come rankings, steps and paths, of which each method makes its
own.
"""
