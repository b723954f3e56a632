"""A kernel connection for Jupyter's server that sends each message at once.

By default the operating system holds small messages back until the browser has acknowledged the
one before (Nagle's algorithm), which adds about 40 ms to each click in the explorer. `tvmlab lab`
names this class; any other Jupyter server can, in `jupyter_server_config.py`:

    c.ServerApp.kernel_websocket_connection_class = (
        "tvmlab.cli.websocket.NoDelayWebsocketConnection"
    )
"""

from __future__ import annotations

import asyncio

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection


class NoDelayWebsocketConnection(ZMQChannelsWebsocketConnection):
    """Jupyter's own connection with Nagle's algorithm off."""

    def connect(self) -> asyncio.Future[None] | None:
        """Switch the delay off, then connect."""
        self.websocket_handler.set_nodelay(True)
        return ZMQChannelsWebsocketConnection.connect(self)
