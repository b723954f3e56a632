"""Pictures of te schedules as Graphviz text: dataflow, schedule tree, relations of axes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tvmlab.compat.tvm.missing import missing
from tvmlab.schedule import Stage, TeSchedule
from tvmlab.schedule.stages import AttachType, Fuse, Split
from tvmlab.te import Axis

__getattr__ = missing("tvm.contrib.tedd")


def viz_dataflow_graph(
    sch: TeSchedule,
    show_svg: bool = False,
    dot_file_path: str = "",
    output_dot_string: bool = False,
) -> str | None:
    """Stages as nodes, and an arrow from each tensor to each stage that reads it."""
    lines = [
        f'  {_node(stage)} [label="{stage.name}\\n{stage.scope or "global"}" shape=box];'
        for stage in sch.stages
    ]
    for stage in sch.stages:
        for tensor in stage.op.input_tensors:
            if tensor.op in sch.stage_map:
                source = sch.stage_map[tensor.op]
                lines.append(f'  {_node(source)} -> {_node(stage)} [label="{tensor.name}"];')
    return _out("Dataflow", lines, show_svg, dot_file_path, output_dot_string)


def viz_schedule_tree(
    sch: TeSchedule,
    show_svg: bool = False,
    dot_file_path: str = "",
    output_dot_string: bool = False,
) -> str | None:
    """Stages with their loops, outermost first, below the loop that they are attached to."""
    ranges = sch.replay().ranges
    lines = ["  ROOT [shape=oval];"]
    for stage in sch.stages:
        rows = "|".join(
            f"<p{n}> {n} {axis.name} {_kind(stage, axis)}{_extent(ranges, axis)}"
            for n, axis in enumerate(stage.leaf_iter_vars)
        )
        label = f"{{{stage.name} ({stage.scope or 'global'})|{rows or 'no loops'}}}"
        lines.append(f'  {_node(stage)} [label="{label}" shape=record];')
        lines.append(f"  {_node(stage)} -> {_target(stage)};")
    return _out("Schedule_tree", lines, show_svg, dot_file_path, output_dot_string)


def viz_itervar_relationship_graph(
    sch: TeSchedule,
    show_svg: bool = False,
    dot_file_path: str = "",
    output_dot_string: bool = False,
) -> str | None:
    """For each stage, how its loops came from its axes by splitting and fusing."""
    lines: list[str] = []
    for stage in sch.stages:
        lines.append(f'  subgraph cluster_{_node(stage)} {{ label="{stage.name}";')
        names = {axis: f"{_node(stage)}_{n}" for n, axis in enumerate(stage.all_iter_vars)}
        for axis, name in names.items():
            place = stage.leaf_iter_vars.index(axis) if axis in stage.leaf_iter_vars else -1
            lines.append(f'    {name} [label="{axis.name}\\n{place}" shape=box];')
        for number, relation in enumerate(stage.relations):
            step = f"{_node(stage)}_r{number}"
            if isinstance(relation, Split):
                lines.append(f'    {step} [label="split" shape=oval];')
                lines.append(f"    {names[relation.parent]} -> {step};")
                lines += [f"    {step} -> {names[a]};" for a in (relation.outer, relation.inner)]
            elif isinstance(relation, Fuse):
                lines.append(f'    {step} [label="fuse" shape=oval];')
                lines += [f"    {names[a]} -> {step};" for a in relation.axes]
                lines.append(f"    {step} -> {names[relation.fused]};")
        lines.append("  }")
    return _out("Relations", lines, show_svg, dot_file_path, output_dot_string)


def _node(stage: Stage) -> str:
    return f"stage_{stage.name}"


def _kind(stage: Stage, axis: Axis) -> str:
    mark = stage.marks.get(axis)
    if mark is not None and mark.bind_thread is not None:
        return mark.bind_thread.thread_tag
    kind = "reduce" if axis.kind == "reduce" else "data_par"
    return kind if mark is None or not mark.iter_type else mark.iter_type.name.lower()


def _extent(ranges: dict[Axis, Any], axis: Axis) -> str:
    found = ranges.get(axis)
    size = getattr(found.extent, "value", None) if found is not None else None
    return "" if size is None else f" of {size}"


def _target(stage: Stage) -> str:
    if stage.attach_type is AttachType.INLINE:
        return "ROOT [style=dotted label=inline]"
    parent, axis = stage.attach_stage, stage.attach_ivar
    if isinstance(parent, Stage) and axis is not None and axis in parent.leaf_iter_vars:
        return f"{_node(parent)}:p{parent.leaf_iter_vars.index(axis)}"
    return "ROOT"


def _out(
    title: str, lines: list[str], show_svg: bool, dot_file_path: str, output_dot_string: bool
) -> str | None:
    text = "\n".join([f"digraph {title} {{", "  rankdir=BT;", *lines, "}", ""])
    if dot_file_path:
        Path(dot_file_path).write_text(text)
    if show_svg:
        print(text)
    return text if output_dot_string else None
