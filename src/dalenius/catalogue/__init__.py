"""The model library: its models, and the ratchet that only ever tightens their intervals."""
