"""ControlBurn.

Input: trees, grown or imported, and options as keywords or objects. Output: sparse forests of
these trees, and the terms that they use.
"""
