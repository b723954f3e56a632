"""What kind of computation an operator is, as the tag of its `te.compute`."""

ELEMWISE = "elemwise"
BROADCAST = "broadcast"
INJECTIVE = "injective"
COMM_REDUCE = "comm_reduce"
COMM_REDUCE_IDX = "comm_reduce_idx"


def is_injective(tag: str) -> bool:
    """Whether each element follows from single elements of the inputs."""
    return tag in (ELEMWISE, BROADCAST) or tag.startswith(INJECTIVE)


def is_broadcast(tag: str) -> bool:
    """Whether it works on elements at the same place, of inputs stretched to one shape."""
    return tag in (ELEMWISE, BROADCAST)
