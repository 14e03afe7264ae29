"""Code that one chapter alone needs, a module a chapter."""
