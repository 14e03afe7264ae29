"""How the bundled models are made: facts, corpus with counted exposures, trainer."""
