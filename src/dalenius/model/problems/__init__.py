"""The problems: an audit of a mechanism that is there, and the designs; each resolved to what an audit or a design needs."""
