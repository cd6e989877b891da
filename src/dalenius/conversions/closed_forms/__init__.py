"""Theorems with several numbers in them: priors with a floor, noise on a count, thresholds, privacy profiles, tests, utility."""
