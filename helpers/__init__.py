"""Measure what a language model knows: facts, probes, answers, metrics, figures."""
