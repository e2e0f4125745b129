"""Search among sets of units.

Input: sets. Output: the same, judged out of bag, after exchanges, cuts and backward passes.
"""
