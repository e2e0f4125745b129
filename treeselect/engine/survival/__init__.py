"""Times until an event.

In come rows that were under observation from one time to another, their weights and a linear
predictor; out come the partial likelihood and its derivatives, curves of survival, and scores.
"""
