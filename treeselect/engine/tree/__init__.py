"""One tree.

Input: data, a target and rules of growth. Output: nodes.
"""
