"""What happens while a kernel runs: counters of the system, and samples of where it is."""

from .events import HARDWARE, SOFTWARE, Counted, Counters, Event, Missing
from .probe import ProbeRequest, ProbeResult, probe

__all__ = [
    "HARDWARE",
    "SOFTWARE",
    "Counted",
    "Counters",
    "Event",
    "Missing",
    "ProbeRequest",
    "ProbeResult",
    "probe",
]
