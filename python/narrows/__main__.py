"""`python -m narrows` is the command, too, for shells whose PATH doesn't have it."""

import sys

from narrows.start import main

if __name__ == "__main__":
    sys.argv[0] = "narrows"  # the name by which pages quote the command
    sys.exit(main())
