"""What predicts.

In come a problem and the units that were selected; out comes a model of these units, and of new
rows a mean response.
"""
