"""What a selection has found.

Input: a path, a chosen step and a model. Output: tables, shapes, trees, a summary and refitted
models.
"""
