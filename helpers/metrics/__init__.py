"""Pure functions from answers to numbers: no model, no files, no randomness."""
