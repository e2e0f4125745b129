"""The user's tables and files.

Input: tables of pandas, polars, pyarrow and DuckDB, and data files. Output: pandas frames
and columns of numbers or labels, and on the way back tables in the user's library.
"""
