"""``python -m shuffledp`` is the command ``shuffledp``."""

import sys

from shuffledp.cli import main

if __name__ == "__main__":
    sys.exit(main())
