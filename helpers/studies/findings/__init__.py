"""What the chapters of the four studies say they found."""
