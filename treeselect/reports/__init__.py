"""From a result to a report: gather plain data, then render it."""
