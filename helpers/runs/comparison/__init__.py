"""Set finished runs beside each other: what may be compared, fact by fact, and how sure it is.

``groups`` sorts runs into those that were made alike, ``facts`` reads what each model did with each
fact, ``measures`` names what is computed from it, ``board`` compares models on the same facts,
``sizes`` sets them beside the papers' models, ``noise`` asks how far one model differs from itself.
"""
