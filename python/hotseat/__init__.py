"""Hotseat: a person in the model's seat of an agent.

The parts for Google ADK are in :mod:`hotseat.adk`. The rest of this package is what they share:
the wire (:mod:`hotseat._wire`), where the server is (:mod:`hotseat.settings`), the connection to
it (:mod:`hotseat.connection`) and one session on it (:mod:`hotseat.session`).
"""

from hotseat.errors import HotseatError

__all__ = ["HotseatError", "__version__"]

__version__ = "0.1.0"
