"""What trees are grown on.

Input: columns, a response and weights. Output: byte codes, moments packed into integers, and
targets.
"""
