"""Times until an event.

Input: rows that were under observation from one time to another, their weights and a linear
predictor. Output: the partial likelihood and its derivatives, curves of survival, and scores.
"""
