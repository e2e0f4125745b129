"""Linear models and kernels of the baselines.

Input: columns in groups, a response and weights. Output: coefficients, along a path of penalties
or at the maximum of the likelihood.
"""
