"""Pages without what tables say of themselves to browsers and screen readers."""

import re

_SAID = re.compile(r' (?:class="numbers?"|role="(?!img)[^"]*"|data-label="[^"]*"|style="[^"]*")')


def plain(page: str) -> str:
    """The page with its tables as they would be written by hand."""
    return _SAID.sub("", page)


def without_style(page: str) -> str:
    """The page without its style sheet and what its links hold, which are under no snapshot."""
    page = re.sub(r"<style>.*?</style>", "<style></style>", page, flags=re.DOTALL)
    return re.sub(r'href="data:([^,]*),[^"]*"', r'href="data:\1,"', page)
