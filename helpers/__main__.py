"""The command line: ``python -m helpers --help``."""

import sys

from helpers.publishing import commands

if __name__ == "__main__":
    sys.exit(commands.main())
