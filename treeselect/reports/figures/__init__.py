"""Numbers to positions.

Turns values and names into frozen records of lengths in pixels, which the macros of
``figures.svg.j2`` draw. Pure functions, without a plotting package.
"""
