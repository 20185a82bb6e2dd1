"""Hotseat for Google's Agent Development Kit.

* :class:`HotseatPlugin` goes into an app of your own: every model call asks a person.
* :class:`HotseatSessionService` keeps the app's sessions on the server.
* :class:`AgentSimulator` runs agents behind Hotseat's page, as `hotseat web` does.
* :class:`SimulatedAgentConfig` names an agent and where its golden traces go.
"""

from hotseat.adk.config import SimulatedAgentConfig
from hotseat.adk.plugin import HotseatPlugin
from hotseat.adk.session_service import HotseatSessionService
from hotseat.adk.simulator import AgentSimulator

__all__ = ["AgentSimulator", "HotseatPlugin", "HotseatSessionService", "SimulatedAgentConfig"]
