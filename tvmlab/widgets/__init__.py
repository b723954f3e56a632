"""The explorer: sessions, the protocol's commands, and the ways by which views reach a session."""

from .commands import answer
from .entry import explore
from .registry import find_session, open_session, sessions
from .session import Session
from .session_file import load_session, read_session, save_session, session_text
from .watching import watch

__all__ = [
    "Session",
    "answer",
    "explore",
    "find_session",
    "load_session",
    "open_session",
    "read_session",
    "save_session",
    "session_text",
    "sessions",
    "watch",
]
