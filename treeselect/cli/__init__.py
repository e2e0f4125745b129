"""The command line.

Input: words of a shell. Output: text, files and an exit code.
"""
