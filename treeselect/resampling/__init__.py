"""Other samples of the same rows.

Input: a problem, a method and folds or resamples. Output: the chosen size, scores on rows that
were held out, frequencies of selection and bounds on errors.
"""
