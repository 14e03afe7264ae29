"""Models that a server holds, named ``http://host:port#name``."""
