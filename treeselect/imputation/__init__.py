"""Imputed copies of the same data, side by side.

Input: the selections on several frames whose missing values were filled in. Output: how many
agree on each term, the linear model pooled over them, and words.
"""
