"""The module that converted code imports as `ag__`."""

import sys
from builtins import BaseException, slice

from . import convert
from .calls import converted, iterated
from .errors import clean_traceback
from .operators import (
    and_,
    any_jump,
    assign_name,
    bound,
    check,
    compare,
    for_stmt,
    if_exp,
    if_stmt,
    in_,
    no_jump,
    not_,
    not_in,
    or_,
    raised,
    set_item,
    set_item_of_attribute,
    update_item,
    update_item_of_attribute,
    while_stmt,
)

__all__ = [
    "BaseException",
    "and_",
    "any_jump",
    "assign_name",
    "bound",
    "check",
    "clean_traceback",
    "compare",
    "converted",
    "for_stmt",
    "if_exp",
    "if_stmt",
    "in_",
    "iterated",
    "no_jump",
    "not_",
    "not_in",
    "or_",
    "raised",
    "set_item",
    "set_item_of_attribute",
    "slice",
    "update_item",
    "update_item_of_attribute",
    "while_stmt",
]

convert.RUNTIME_CELL.cell_contents = sys.modules[__name__]
