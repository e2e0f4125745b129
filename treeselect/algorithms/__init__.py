"""What the papers say: one file per paper, each a small frozen record of options.

Every method answers the same question (``Method.path``); nothing above this folder asks
which method it was.
"""
