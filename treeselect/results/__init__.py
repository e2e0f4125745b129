"""What a selection has found.

In come a path, a chosen step and a model; out come tables, shapes, trees, a summary and refitted
models.
"""
