"""Sections of the report on a selection.

In comes a fit; each module gathers what one section says, as plain data. The block of
``report.html.j2`` that shows it has the name of the module; there is no other list of sections.
"""
