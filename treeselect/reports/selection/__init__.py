"""Sections of the report on a selection.

Each module gathers the content of one section from a fit, as plain data, for the block of
``report.html.j2`` of the same name. There is no other list of sections.
"""
