"""The user's tables and files.

Input: pandas, polars and pyarrow tables, CSV, Parquet and Feather files. Output: pandas frames
and columns of numbers or labels, and on the way back tables in the user's library.
"""
