"""The best split of a node.

Input: the rows of a node and the cost of new groups. Output: a column, a code and a gain.
"""
