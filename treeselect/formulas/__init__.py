"""Text to checked terms.

Input: a formula's text. Output: records of terms and expressions, and the values of expressions,
row by row. `treeselect.formula` is the face of this room.
"""
