"""What several methods have in common.

Input: problems and options. Output: rankings, steps and paths, of which each method makes its
own.
"""
