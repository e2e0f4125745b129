"""The sparse forest of ControlBurn.

In come trees, their costs and a loss; out come weights of trees, along a path of penalties or for
one.
"""
