"""Questions of several solves, or of one release: curves, frontiers, rivals side by side, an output for real data."""
