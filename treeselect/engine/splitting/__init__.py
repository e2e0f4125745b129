"""The best split of a node.

In come the rows of a node and the cost of new groups; out come a column, a code and a gain.
"""
