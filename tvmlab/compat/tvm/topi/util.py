"""`tvm.topi.utils` by the name that it had before version 0.8."""

from .utils import equal_const_int, get_const_int, get_const_tuple, prod

__all__ = ["equal_const_int", "get_const_int", "get_const_tuple", "prod"]
