"""Theorems beyond the core, each in a module of its name that is imported when a model asks for it (core/registry.py)."""
