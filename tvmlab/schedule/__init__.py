"""Schedules: eager, reversible transformations of programs that never change what they compute."""

from .actions import Action, Choice
from .assumptions import size_facts
from .composite import composite, forget_composite
from .domains import unproved_limits
from .history import History, HistoryNode
from .history_file import ReadHistory, read_history, write_history
from .independence import touches_apart
from .index import ProgramIndex, accesses, blocks_in, index_of
from .kinds import block_kind
from .primitives.reduction import ReductionForm, reduction_form
from .refs import BlockRef, LoopRef, Ref
from .registry import PRIMITIVES, Applied, ParamSpec, Primitive, primitive
from .repeating import program_without, repeat_steps
from .schedule import Schedule, replay_step
from .service import Attempt
from .stages import Group, Replayed, Stage, TeSchedule
from .trace import Instruction, Step, Trace, read_json
from .verdict import ALLOWED, Fix, RefusedError, Verdict
from .witness import Iteration, Witness

__all__ = [
    "ALLOWED",
    "PRIMITIVES",
    "Action",
    "Applied",
    "Attempt",
    "BlockRef",
    "Choice",
    "Fix",
    "Group",
    "History",
    "HistoryNode",
    "Instruction",
    "Iteration",
    "LoopRef",
    "ParamSpec",
    "Primitive",
    "ProgramIndex",
    "ReadHistory",
    "ReductionForm",
    "Ref",
    "RefusedError",
    "Replayed",
    "Schedule",
    "Stage",
    "Step",
    "TeSchedule",
    "Trace",
    "Verdict",
    "Witness",
    "accesses",
    "block_kind",
    "blocks_in",
    "composite",
    "forget_composite",
    "index_of",
    "primitive",
    "program_without",
    "read_history",
    "read_json",
    "reduction_form",
    "repeat_steps",
    "replay_step",
    "size_facts",
    "touches_apart",
    "unproved_limits",
    "write_history",
]
