"""What predicts.

Input: a problem and the units that were selected. Output: a model of these units, and of new


rows a mean response.
"""
