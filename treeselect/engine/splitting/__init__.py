"""The best split of a node.

In come the rows of a node and what opening a group costs; out come a column, a code and a gain.
"""
