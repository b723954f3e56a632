"""The explorer: sessions, the protocol's commands, and the ways by which views reach a session."""

from .commands import answer
from .entry import explore
from .registry import find_session, open_session, sessions
from .session import Session

__all__ = ["Session", "answer", "explore", "find_session", "open_session", "sessions"]
