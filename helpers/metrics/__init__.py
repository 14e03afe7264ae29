"""Answers to numbers: pure functions, no model, no files, no randomness."""
