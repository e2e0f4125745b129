"""Sections of the report on a comparison.

In comes a comparison; each module gathers what one section says, as plain data, for the block of
``comparison.html.j2`` that shows it; there is no other list of sections.
"""
