"""Models in files.

Input: a result or a path. Output: one file of JSON and arrays, or the result again. No code is
stored, and none is run.
"""
