"""`python -m qassay` is the command `qassay`."""

import sys

from qassay.cli import main

sys.exit(main())
