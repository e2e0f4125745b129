"""Models in files.

In comes a result or a path; out comes one file of JSON and arrays, or the result again. No code is
stored, and none is run.
"""
