"""Linear models of the selected terms.

Input: the columns of selected terms and a response. Output: a fitted model, its coefficients,
tests, intervals, predictions and statistics.
"""
