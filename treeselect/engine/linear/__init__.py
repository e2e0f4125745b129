"""Linear models and kernels of the baselines.

In come columns in groups, a response and weights; out come coefficients, along a path of penalties
or at the maximum of the likelihood.
"""
