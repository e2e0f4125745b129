"""Arguments from users: numbers, flags, choices, sizes, seeds and paths.

Takes any value; returns a plain value in its range, or raises one error that names the argument.
"""
