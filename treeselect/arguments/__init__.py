"""What users give as arguments: numbers, flags, choices, sizes, seeds and paths.

In comes anything at all; out comes a plain value in its range, or one error that names the
argument.
"""
