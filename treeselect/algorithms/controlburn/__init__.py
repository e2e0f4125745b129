"""ControlBurn.

Input: trees, grown or imported. Output: sparse forests of them, and the terms that these use.
"""
