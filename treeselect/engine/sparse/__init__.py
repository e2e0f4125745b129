"""The sparse forest of ControlBurn.

Input: trees, their costs and a loss. Output: weights of trees, along a path of penalties or for
one.
"""
