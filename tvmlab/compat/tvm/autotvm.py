"""Names of AutoTVM: each says what to use here."""

from __future__ import annotations

from .missing import missing

_SPACE = "describe the space by tvmlab.tune, where a schedule program takes knobs for its numbers"
_SEARCH = "tvmlab.tune searches, with measured and predicted times"
_MEASURE = "tvmlab.tune measures in worker processes of this machine"

__getattr__ = missing(
    "tvm.autotvm",
    otherwise="tvmlab.tune searches over tvmlab.Schedule with measured and predicted times",
    template=_SPACE,
    get_config=_SPACE,
    task=_SPACE,
    register_topi_compute=_SPACE,
    register_topi_schedule=_SPACE,
    tuner=_SEARCH,
    callback="tvmlab.tune writes its own log; read it from there",
    record="tvmlab.tune writes its own log; read it from there",
    apply_history_best="replay the best schedule of tvmlab.tune: its trace is Python",
    LocalBuilder=_MEASURE,
    LocalRunner=_MEASURE,
    RPCRunner=_MEASURE,
    measure_option=_MEASURE,
)
