"""The command line: ``python -m helpers --help``."""

import sys

from helpers import cli

if __name__ == "__main__":
    sys.exit(cli.main())
