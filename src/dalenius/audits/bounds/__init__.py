"""Bounds of Problem 1 from above, one a file, and the closed forms that they share."""
