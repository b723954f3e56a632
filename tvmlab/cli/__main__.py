"""`python -m tvmlab.cli`: the command where its script is not on the path."""

import sys

from .app import main

sys.exit(main())
