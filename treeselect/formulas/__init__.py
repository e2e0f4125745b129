"""Text to checked terms.

In comes a formula's text; out come records of terms and expressions, and the values of expressions,
row by row. `treeselect.formula` is the face of this room.
"""
