"""Other samples of the same rows.

In come a problem, a method and folds or resamples; out come the chosen size, scores on rows that
were held out, frequencies of selection and bounds on errors.
"""
