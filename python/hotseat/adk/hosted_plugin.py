"""The plugin of a hosted agent, for sessions and runs that the server began.

The order of the run (:mod:`hotseat.adk.order`) says who answers. Where that is the agent's own
model, no turn is submitted and ADK does what it would do without Hotseat, except that the log
hears of everything.
"""

from __future__ import annotations

from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from hotseat.adk.conversation import Conversation, Place, calling
from hotseat.adk.order import Order
from hotseat.adk.plugin import HotseatPlugin
from hotseat.adk.tools import watch_tools


class HostedPlugin(HotseatPlugin):
    """Finds the conversation of a session among those that the host has bound."""

    def __init__(self, agents: frozenset[str] | None) -> None:
        super().__init__(agents=agents)
        # Somebody asked for this worker in so many words.
        self._off = False
        self.bound: dict[str, Conversation] = {}

    async def on_user_message_callback(
        self, *, invocation_context: InvocationContext, user_message: types.Content
    ) -> types.Content | None:
        """Gives a run that is resumed the invocation id that it had."""
        place = await self._place(invocation_context)
        if place is not None and place.conversation.replay is not None:
            recorded = place.conversation.replay.invocation_of(place)
            invocation_context.invocation_id = recorded or invocation_context.invocation_id
        return None

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Offers the client's tools, and lets whoever is in the seat answer."""
        context = callback_context._invocation_context
        place = await self._place(context)
        order = place.conversation.order if place is not None else None
        # An agent that runs as a tool cannot wait for the client: its caller waits for it.
        if place is not None and order is not None and place.is_root:
            if order.client_tools.awaited((callback_context.agent_name, context.branch or "")):
                return LlmResponse()  # ADK makes no event of it and ends the agent's run.
            order.client_tools.offer(llm_request)
        if place is None or order is None or not order.model_answers:
            return await super().before_model_callback(
                callback_context=callback_context, llm_request=llm_request
            )
        watch_tools(llm_request.tools_dict.values())
        await place.catch_up(context)
        return self._recorded_answer(place, callback_context)

    async def on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> Event | None:
        """Puts an event into the log, and notes a call that the model made alone."""
        order = self._order(invocation_context)
        if order is not None and order.model_answers and not event.partial:
            calls = event.get_function_calls()
            if len(calls) == 1 and calls[0].id:
                place = await self._place(invocation_context)
                if place is not None:
                    place.conversation.alone.add(calls[0].id)
        return await super().on_event_callback(invocation_context=invocation_context, event=event)

    def forgives(self, tool_context: ToolContext) -> bool:
        """Where the model answers, a broken tool is as bad as it is without Hotseat."""
        order = self._order(tool_context._invocation_context)
        return (order is None or not order.model_answers) and super().forgives(tool_context)

    async def _conversation(self, context: InvocationContext) -> Conversation:
        return self.bound[context.session.id]

    async def _next_run(self, context: InvocationContext) -> Conversation:
        return self.bound[context.session.id]

    def _tell_waiting(self, agent_name: str) -> None:
        """Says nothing: whoever is to answer is looking at the page already."""

    def _order(self, context: InvocationContext) -> Order | None:
        call = calling(self, context.session.id)
        conversation = call.conversation if call else self.bound.get(context.session.id)
        return conversation.order if conversation is not None else None

    @staticmethod
    def _recorded_answer(place: Place, callback_context: CallbackContext) -> LlmResponse | None:
        replay = place.conversation.replay
        if replay is None:
            return None
        branch = callback_context._invocation_context.branch
        return replay.next_answer(place, callback_context.agent_name, branch)
