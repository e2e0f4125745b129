"""What ControlBurn is made of: forests to choose from, and ways to choose.

Input: the options of the method, as objects or as keywords for them. Output: a pool of trees and
the path of selections through it.
"""
