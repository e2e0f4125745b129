"""Terms to coded columns.

In come terms and a frame; out come columns of codes and numbers, units with their costs, response,
weights and offset: the problem that methods solve.
"""
