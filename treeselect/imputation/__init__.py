"""Imputed copies of the same data, side by side.

In come the selections on several frames whose missing values were filled in; out come how many
agree on each term, the linear model pooled over them, and words.
"""
