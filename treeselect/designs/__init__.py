"""Terms to coded columns.

Input: terms and a frame. Output: columns of codes and numbers, units with their costs, response,
weights and offset: the problem that methods solve.
"""
