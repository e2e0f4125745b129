"""Numbers to positions.

In come values and names; out come frozen records of lengths in pixels, which the macros of
``figures.svg.j2`` draw. Pure functions, without a package of plotting.
"""
