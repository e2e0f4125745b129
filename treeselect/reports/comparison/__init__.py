"""Sections of the report on a comparison.

Each module gathers the content of one section from a comparison, as plain data, for the block of
``comparison.html.j2`` of the same name. There is no other list of sections.
"""
