"""The `tvmlab` command: one file a subcommand, all numbers from reports.

>>> main(["devices"])
0
"""

from .app import main

__all__ = ["main"]
