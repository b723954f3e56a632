"""Reports as plain data. Every view takes its numbers from here: the explorer, the command line,
the notebook's picture of a schedule. So two views never disagree.

>>> print(nest_text(nest_report(schedule)))
"""

from .access_order import access_order
from .actions import ActionReport, Predict, action_reports, step_summary
from .block_work import operations_of
from .cache_simulator import CacheGeometry, LevelResult, Simulation, simulate
from .code_links import (
    LinkedCode,
    linked_loops,
    linked_lowered,
    linked_machine,
    linked_python,
)
from .compare import Compared, CompareReport, compare_report
from .cost import NestCost, nest_cost
from .dependences import Dependence, dependences
from .details import Fact, LineReport, line_report
from .flow import FlowEdge, FlowNode, FlowReport, flow_report
from .gains import GainsReport, StepGain, Without, gains_report, programs_without
from .history import HistoryReport, HistoryReporter, HistoryRow, step_label
from .html_view import nest_html
from .inner_loops import InnerLoopReport, inner_loop_report, inner_loop_text
from .iterations import Axis, IterationsReport, Part, iterations_report
from .learning import AttributionReport, LearningReport, attribution_report, learning_report
from .line_diff import DiffLine, diff_lines
from .machine import (
    DeviceReport,
    MachineReport,
    WorkloadReport,
    device_reports,
    limit_facts,
    machine_report,
    workload_report,
)
from .machines import OTHERS, MachinesReport, machines_report
from .measurement import (
    Gain,
    Measured,
    MeasurementReport,
    equality_words,
    gain_over,
    measurement_report,
)
from .memory_trace import TINY, MemoryReport, machine_caches, memory_report
from .nest import Cost, NestReport, Row, nest_report
from .offers import Offer, offers
from .passes import PassReport, pass_reports
from .plain import plain
from .plot import PlotReport, Point, plot_report
from .residuals import Residual, ResidualsReport, residuals_report
from .resizing import Resizer, Size
from .roofline import Ceiling, RooflineReport, RoofPoint, roofline_report
from .slots import Move, Slot, SlotsReport, move_to, slots_report
from .suggestions import Suggestion, SuggestionsReport, suggestions_report
from .symbols import Symbol, SymbolIds
from .text_view import history_text, nest_text, table
from .tuning import KnobImportance, TuningReport, knob_importance, tuning_report
from .verdict import (
    FixReport,
    VerdictReport,
    refusal_html,
    refusal_lines,
    verdict_html,
    verdict_report,
)
from .what_if import WhatIfReport, what_if_report

__all__ = [
    "OTHERS",
    "TINY",
    "ActionReport",
    "AttributionReport",
    "Axis",
    "CacheGeometry",
    "Ceiling",
    "CompareReport",
    "Compared",
    "Cost",
    "Dependence",
    "DeviceReport",
    "DiffLine",
    "Fact",
    "FixReport",
    "FlowEdge",
    "FlowNode",
    "FlowReport",
    "Gain",
    "GainsReport",
    "HistoryReport",
    "HistoryReporter",
    "HistoryRow",
    "InnerLoopReport",
    "IterationsReport",
    "KnobImportance",
    "LearningReport",
    "LevelResult",
    "LineReport",
    "LinkedCode",
    "MachineReport",
    "MachinesReport",
    "Measured",
    "MeasurementReport",
    "MemoryReport",
    "Move",
    "NestCost",
    "NestReport",
    "Offer",
    "Part",
    "PassReport",
    "PlotReport",
    "Point",
    "Predict",
    "Residual",
    "ResidualsReport",
    "Resizer",
    "RoofPoint",
    "RooflineReport",
    "Row",
    "Simulation",
    "Size",
    "Slot",
    "SlotsReport",
    "StepGain",
    "Suggestion",
    "SuggestionsReport",
    "Symbol",
    "SymbolIds",
    "TuningReport",
    "VerdictReport",
    "WhatIfReport",
    "Without",
    "WorkloadReport",
    "access_order",
    "action_reports",
    "attribution_report",
    "compare_report",
    "dependences",
    "device_reports",
    "diff_lines",
    "equality_words",
    "flow_report",
    "gain_over",
    "gains_report",
    "history_text",
    "inner_loop_report",
    "inner_loop_text",
    "iterations_report",
    "knob_importance",
    "learning_report",
    "limit_facts",
    "line_report",
    "linked_loops",
    "linked_lowered",
    "linked_machine",
    "linked_python",
    "machine_caches",
    "machine_report",
    "machines_report",
    "measurement_report",
    "memory_report",
    "move_to",
    "nest_cost",
    "nest_html",
    "nest_report",
    "nest_text",
    "offers",
    "operations_of",
    "pass_reports",
    "plain",
    "plot_report",
    "programs_without",
    "refusal_html",
    "refusal_lines",
    "residuals_report",
    "roofline_report",
    "simulate",
    "slots_report",
    "step_label",
    "step_summary",
    "suggestions_report",
    "table",
    "tuning_report",
    "verdict_html",
    "verdict_report",
    "what_if_report",
    "workload_report",
]
