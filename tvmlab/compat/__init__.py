"""Old TVM programs: run them by changing their import, or by an alias in this process.

>>> import tvmlab.compat.tvm as tvm  # instead of `import tvm`
>>> from tvmlab.compat.tvm import te

>>> from tvmlab.compat import install_alias
>>> install_alias()  # from here on `import tvm` in this process means tvmlab.compat.tvm
"""

from .alias import install_alias, remove_alias

__all__ = ["install_alias", "remove_alias"]
