"""What trees are grown on.

In come columns, a response and weights; out come byte codes, moments packed into integers, and
targets.
"""
