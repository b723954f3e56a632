"""A session in a real kernel, reached over the wire as JupyterLab reaches it."""

from __future__ import annotations

import queue
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from helpers.sessions import View

manager = pytest.importorskip("jupyter_client.manager")

CODE = """
import tvmlab as tl
from tvmlab import te
A, B = te.placeholder((32, 32), name="A"), te.placeholder((32, 32), name="B")
k = te.reduce_axis(32, "k")
C = te.compute((32, 32), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
sch = tl.Schedule(C, name="matmul")
from tvmlab.widgets import open_session
from tvmlab.widgets.comms import register_target
session = open_session(sch)
register_target()
"""
LIMIT = 60.0


class Wire:
    """The front end's end of a kernel."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def run(self, code: str) -> None:
        """Run code and wait for it."""
        reply = self.client.execute_interactive(code, timeout=LIMIT, store_history=False)
        assert reply["content"]["status"] == "ok", reply["content"]

    def start(self, code: str) -> None:
        """Run code and leave what it sends to be heard."""
        self.client.execute(code, store_history=False)

    def open(self, session: str | None) -> str:
        """Open a comm on the session; returns the comm's id."""
        comm = uuid.uuid4().hex
        content = {"comm_id": comm, "target_name": "tvmlab.session", "data": {"session": session}}
        self._send("comm_open", content)
        return comm

    def say(self, comm: str, data: dict[str, Any]) -> None:
        self._send("comm_msg", {"comm_id": comm, "data": data})

    def hear(self, comm: str, until: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
        """Messages on a comm, up to the first that is waited for."""
        heard: list[dict[str, Any]] = []
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            try:
                message = self.client.get_iopub_msg(timeout=1)
            except queue.Empty:
                continue
            if message["content"].get("comm_id") == comm:
                kind, data = message["header"]["msg_type"], message["content"]["data"]
                heard.append({**data, "closed": True} if kind == "comm_close" else data)
                if until(heard[-1]):
                    return heard
        raise AssertionError(f"what was waited for did not come; heard {heard}")

    def _send(self, kind: str, content: dict[str, Any]) -> None:
        self.client.shell_channel.send(self.client.session.msg(kind, content))


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    kernel: Any = manager.KernelManager(kernel_name="python3")
    kernel.start_kernel()
    client: Any = kernel.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=LIMIT)
        wire = Wire(client)
        wire.run(CODE)
        yield wire
    finally:
        client.stop_channels()
        kernel.shutdown_kernel(now=True)
        kernel.cleanup_resources()


def is_reply(message: dict[str, Any]) -> bool:
    return message.get("type") == "reply"


def test_a_comm_follows_a_session_through_steps_and_measurement(wire: Wire) -> None:
    comm = wire.open(None)
    [first] = wire.hear(comm, lambda m: m.get("type") == "state")
    view = View(first["state"])
    row = view.state["rows"][0]["id"]
    split = {"factors": [None, 8]}
    wire.say(comm, {"type": "apply", "id": 1, "row": row, "action": "split", "params": split})
    for message in wire.hear(comm, is_reply):
        view(message)
    assert view.state["rows"][0]["name"] == "i_outer"
    wire.start("sch.parallel(sch.loops('C')[0])")
    for message in wire.hear(comm, lambda m: m.get("type") == "patch"):
        view(message)
    assert view.state["rows"][0]["kind"] == "parallel"
    wire.say(comm, {"type": "measure", "id": 2})

    def finished(message: dict[str, Any]) -> bool:
        return message.get("set", {}).get("measurement", {}).get("status") in ("done", "failed")

    for message in wire.hear(comm, finished):
        view(message)
    assert view.state["measurement"]["status"] == "done", view.state["measurement"]
    assert view.state["measurement"]["equal"] is True


def test_a_comm_on_an_unknown_session_is_closed(wire: Wire) -> None:
    comm = wire.open("s999")
    [closed] = wire.hear(comm, lambda m: bool(m.get("closed")))
    assert "session s999 is gone" in closed["reason"]
