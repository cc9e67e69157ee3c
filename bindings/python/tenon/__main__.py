"""The command `python -m tenon`."""

import sys

from ._command import main

sys.exit(main())
