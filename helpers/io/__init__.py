"""Strangers' files, the network, and where downloads are kept."""
