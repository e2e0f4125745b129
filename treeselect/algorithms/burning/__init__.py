"""What ControlBurn is made of: forests to choose from, and ways to choose.

In come the options of the method, as objects or as keywords for them; out come a pool of trees and
the path of selections through it.
"""
