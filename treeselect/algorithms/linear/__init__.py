"""Linear and kernel methods.

Input: the coded columns of a task. Output: the path of a sparse fit.
"""
