"""The command line.

In come words of a shell; out come text, files and an exit code.
"""
