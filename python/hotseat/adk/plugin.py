"""The ADK plugin that puts a person in the model's seat.

Each model call of a target agent becomes a turn on the server, and the run waits, without limit,
for somebody's answer. ADK does everything else: it runs the tools, transfers between agents and
stores the session. Every event that ADK stores is put into Hotseat's log, word for word.

An agent that runs as a tool (`AgentTool`) has a session and an invocation of its own; all of it
goes into the Hotseat session of its caller, marked with the function call that runs it.
"""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Iterable
from typing import Any

import grpc
from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from hotseat import _wire, background
from hotseat.adk import evaluation
from hotseat.adk.conversation import (
    Conversation,
    Place,
    calling,
    current_call,
    enter_call,
    leave_call,
)
from hotseat.adk.conversations import Conversations
from hotseat.adk.decision import call_ids, unpack_decision
from hotseat.adk.declarations import forgive_broken_declarations
from hotseat.adk.event_record import asks_the_user, entry, outcome_record
from hotseat.adk.request import pack_request
from hotseat.adk.tools import RunTool, ToolRun, error_response, first_answer, watch_tools
from hotseat.adk.tracebacks import readable_traceback
from hotseat.adk.unknown_models import accept_unknown_models
from hotseat.adk.versions import ADK_MAJOR
from hotseat.errors import ServerRefused
from hotseat.notices import notice
from hotseat.settings import Settings


class HotseatPlugin(BasePlugin):
    """Asks a person whenever one of the target agents would call its model.

    Args:
        agents: Names of the agents to answer for, or one string with commas; None means all.
            The others go on calling their models. Environment: HOTSEAT_AGENTS.
        url: Address of the server. Environment: HOTSEAT_URL; default http://127.0.0.1:4687.
        token: Token for the server. Environment: HOTSEAT_TOKEN; else the token of a server on
            this machine is found by itself.
        description: What the sessions are called on the server. Environment: HOTSEAT_DESCRIPTION.
        name: Name of the plugin within the app.

    HOTSEAT_DISABLED=1 switches the plugin off. It is off in ADK's evaluations by itself.
    """

    def __init__(
        self,
        agents: Iterable[str] | str | None = None,
        url: str | None = None,
        token: str | None = None,
        description: str | None = None,
        name: str = "hotseat",
    ) -> None:
        super().__init__(name)
        self.agents = _names(os.environ.get("HOTSEAT_AGENTS") if agents is None else agents)
        self._conversations = Conversations(
            Settings.resolve(url, token),
            description or os.environ.get("HOTSEAT_DESCRIPTION") or "",
        )
        self._off = evaluation.disabled_by_environment() or evaluation.is_eval_command()
        self._live_told = False
        if not self._off:
            accept_unknown_models()
            forgive_broken_declarations()

    def targets(self, agent_name: str) -> bool:
        """Whether a person answers for this agent."""
        return not self.agents or agent_name in self.agents

    async def before_run_callback(
        self, *, invocation_context: InvocationContext
    ) -> types.Content | None:
        """Tells the log that a run has started, and what the user said."""
        place = await self._place(invocation_context)
        if place is None:
            return None
        accept_unknown_models()
        forgive_broken_declarations()
        started: list[Any] = []
        if place.is_root:
            place = Place(await self._next_run(invocation_context))
            started = await place.conversation.run_started(invocation_context.invocation_id)
        await place.catch_up(invocation_context, before=started)
        return None

    async def on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> Event | None:
        """Puts an event into the log, on its way into ADK's own session."""
        if place := await self._place(invocation_context):
            await place.forward(event)
        return None

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Tells the log that a run has ended well."""
        place = await self._place(invocation_context)
        if place is None:
            return
        await place.catch_up(invocation_context)
        if place.is_root:
            await place.conversation.run_ended("finished")

    async def on_run_error_callback(
        self, *, invocation_context: InvocationContext, error: Exception
    ) -> None:
        """Tells the log what a run has failed of."""
        place = await self._place(invocation_context)
        if place is None:
            return
        await place.catch_up(invocation_context)
        if place.is_root:
            told = {
                "type": type(error).__name__,
                "message": str(error),
                "traceback": readable_traceback(error),
            }
            await place.conversation.run_ended("failed", error=told)

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Lets a person answer instead of the model."""
        context = callback_context._invocation_context
        if not self.targets(callback_context.agent_name) or self._is_live(context):
            return None
        place = await self._place(context)
        if place is None:
            return None
        watch_tools(llm_request.tools_dict.values())
        await place.catch_up(context)
        response = await self._answer(place, callback_context, llm_request)
        calls = call_ids(response)
        if len(calls) == 1:
            place.conversation.alone.update(calls)
        return response

    async def _answer(
        self, place: Place, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse:
        context = callback_context._invocation_context
        turn_id = None
        if place.conversation.replay is not None:
            recorded = place.conversation.replay.next_turn(
                place, callback_context.agent_name, context.branch
            )
            if recorded is not None and recorded.response is not None:
                return recorded.response
            turn_id = recorded and recorded.turn_id
        request = _wire.SubmitRequestRequest(
            session_id=place.conversation.link.id,
            turn_id=turn_id or str(uuid.uuid4()),
            agent_name=callback_context.agent_name,
            request=pack_request(llm_request, callback_context),
            invocation_id=context.invocation_id,
            branch=context.branch or "",
            parent_call_id=place.parent_call_id,
        )
        self._tell_waiting(callback_context.agent_name)
        try:
            return unpack_decision(await background.run(place.conversation.link.ask(request)))
        except ServerRefused as refusal:
            if refusal.code != grpc.StatusCode.FAILED_PRECONDITION or not place.is_root:
                raise
            # Somebody completed the session while the program was still in it. The program goes
            # on, in a new one.
            conversation = await self._next_run(context)
            if conversation.link.id == request.session_id:
                raise
            request.session_id = conversation.link.id
            return unpack_decision(await background.run(conversation.link.ask(request)))

    def _tell_waiting(self, agent_name: str) -> None:
        notice(f"waiting for a person to answer for agent '{agent_name}' …")

    def _is_live(self, context: InvocationContext) -> bool:
        if context.live_request_queue is None:
            return False
        if not self._live_told:
            self._live_told = True
            notice("a live model cannot be replaced; it answers by itself")
        return True

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        """Remembers which call the current task works for, for agents that run inside of it."""
        # A tool that the user has confirmed runs before any model is asked for anything.
        watch_tools([tool])
        context = tool_context._invocation_context
        place = await self._place(context)
        if place is not None and tool_context.function_call_id:
            enter_call(self, place.conversation, context.session.id, tool_context.function_call_id)
        return None

    async def after_tool_callback(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: ToolContext,
        result: dict[str, Any],
    ) -> dict[str, Any] | None:
        """Forgets the call again."""
        leave_call(tool_context.function_call_id or "")
        return None

    async def on_tool_error_callback(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: ToolContext,
        error: Exception,
    ) -> dict[str, Any] | None:
        """Turns the error of a tool into its response, if nobody else wants to handle it."""
        leave_call(tool_context.function_call_id or "")
        if not isinstance(error, Exception) or not self.watches(tool_context):
            return None  # A cancelled call is told for information only.
        if type(tool) is BaseTool and ADK_MAJOR >= 2:
            return None  # A name that is no tool: ADK has a helpful answer of its own.
        context = tool_context._invocation_context
        plugins = context.plugin_manager.plugins
        later = plugins[plugins.index(self) + 1 :] if self in plugins else []
        answer = await first_answer(
            [plugin.on_tool_error_callback for plugin in later],
            tool=tool,
            tool_args=tool_args,
            tool_context=tool_context,
            error=error,
        )
        if answer is None:
            answer = await first_answer(
                getattr(context.agent, "canonical_on_tool_error_callbacks", []),
                tool=tool,
                args=tool_args,
                tool_context=tool_context,
                error=error,
            )
        return error_response(type(error).__name__, str(error)) if answer is None else answer

    def watches(self, tool_context: ToolContext) -> bool:
        """Whether tools of this context report to this plugin."""
        return self.targets(tool_context.agent_name) and self._is_active(
            tool_context._invocation_context
        )

    def forgives(self, tool_context: ToolContext) -> bool:
        """Whether a tool that cannot say what it is, is left out rather than failing the run."""
        return self.watches(tool_context)

    async def run_tool(
        self, tool: BaseTool, tool_context: ToolContext, args: dict[str, Any], run: RunTool
    ) -> Any:
        """Runs a tool of a target agent, with a stopwatch and a way to cancel it."""
        context = tool_context._invocation_context
        place = await self._place(context)
        if place is None:
            return await run()
        conversation, call_id = place.conversation, tool_context.function_call_id or ""
        if conversation.replay is not None:
            recorded = conversation.replay.tool_result(tool, tool_context)
            if recorded is not None:
                return recorded.value

        def told(payload: dict[str, Any]) -> Any:
            return entry(
                "tool_run",
                payload,
                agent_name=tool_context.agent_name,
                author=tool_context.agent_name,
                invocation_id=context.invocation_id,
                branch=context.branch or "",
                parent_call_id=place.parent_call_id,
            )

        tool_run = ToolRun(
            tool, call_id, tell=lambda payload: conversation.append_in_passing(told(payload))
        )
        await conversation.append(told(tool_run.report("started")))
        await background.run(conversation.link.tool_started(call_id, tool_run.cancel))
        try:
            outcome = await tool_run.complete(run)
        except asyncio.CancelledError:
            conversation.append_aside(told(tool_run.report("cancelled")))
            raise
        finally:
            background.submit(conversation.link.tool_ended(call_id))
        if outcome["status"] == "succeeded" and (
            call_id not in conversation.alone
            or tool.is_long_running
            or asks_the_user(tool_context.actions)
        ):
            # ADK's event with the result comes when all calls beside it have ended and the user
            # has been asked, or never.
            outcome |= outcome_record(tool_run.result, tool_context.actions)
        if saved := dict(tool_context.actions.artifact_delta):
            # A fork has this entry too, and finds there what it has to bring along.
            outcome["artifacts"] = {"session_id": conversation.link.id, "saved": saved}
        await tool_run.progress_told()
        await conversation.append(told(outcome))
        if tool_run.failure is not None:
            raise tool_run.failure
        return tool_run.result

    async def close(self) -> None:
        """Ends the connection; whoever still waits for an answer gets an error.

        Some releases of ADK close the plugins of an agent that ran as a tool although its caller
        is still using them.
        """
        if current_call(self) is not None:
            return
        await self._conversations.close()

    async def _place(self, context: InvocationContext) -> Place | None:
        if not self._is_active(context):
            return None
        if call := calling(self, context.session.id):
            return Place(call.conversation, call.call_id)
        return Place(await self._conversation(context))

    async def _conversation(self, context: InvocationContext) -> Conversation:
        return await self._conversations.find(context)

    async def _next_run(self, context: InvocationContext) -> Conversation:
        return await self._conversations.find_for_run(context)

    def _is_active(self, context: InvocationContext) -> bool:
        return not self._off and not evaluation.is_eval_session(context.session.id)


def _names(agents: Iterable[str] | str | None) -> frozenset[str]:
    names = agents.split(",") if isinstance(agents, str) else agents or ()
    return frozenset(name.strip() for name in names if name.strip())
