"""The conversations of one plugin: one Hotseat session for each ADK session it meets."""

from __future__ import annotations

import threading
import uuid

from google.adk.agents.invocation_context import InvocationContext

from hotseat import _wire, background
from hotseat.adk.conversation import Conversation, StoredAs
from hotseat.adk.session_service import HotseatSessionService
from hotseat.connection import Connection
from hotseat.notices import notice
from hotseat.session import SessionLink
from hotseat.settings import Settings

# Conversations remembered by one plugin. The one used longest ago is forgotten first; if it is
# used again and its ADK id is a UUID, it is found again on the server.
MAX_CONVERSATIONS = 1_000

_Key = tuple[str, str, str]


class Conversations:
    """Finds the Hotseat session of an ADK session, and creates it at first.

    Where the program keeps its sessions on the same server, with `HotseatSessionService`, it is
    the session that is there. Else the Hotseat session has the id of the ADK session where that
    is a UUID, so the two can be told to belong together, and a program that keeps its sessions
    finds the same one after a restart.
    """

    def __init__(self, settings: Settings, description: str) -> None:
        self._settings = settings
        self._description = description
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._known: dict[_Key, Conversation] = {}

    async def find(self, context: InvocationContext) -> Conversation:
        """The conversation of this context's session."""
        key = _key(context)
        stored_as = await self._stored_as(context)
        with self._lock:
            conversation = self._known.pop(key, None)
            if conversation is None or conversation.stored_as != stored_as:
                session_id = stored_as.session_id if stored_as else _own_id(context)
                conversation = self._create(context, session_id, stored_as)
            self._known[key] = conversation
        if not conversation.link.opened:
            await self._open(conversation, context)
        return conversation

    async def find_for_run(self, context: InvocationContext) -> Conversation:
        """The same, but a new one if the one that is there has been completed."""
        conversation = await self.find(context)
        await background.run(conversation.link.open())
        if conversation.link.completed:
            with self._lock:
                conversation = self._create(context, str(uuid.uuid4()), conversation.stored_as)
                self._known[_key(context)] = conversation
            await background.run(conversation.link.open())
        self._announce(conversation, context)
        return conversation

    async def close(self) -> None:
        """Ends every conversation and the connection. Using them again opens a new one."""
        with self._lock:
            connection, self._connection = self._connection, None
            conversations = list(self._known.values())
            self._known.clear()
        for conversation in conversations:
            await background.run(conversation.link.close())
        if connection is not None:
            await background.run(connection.close())

    async def _stored_as(self, context: InvocationContext) -> StoredAs | None:
        service = context.session_service
        if not isinstance(service, HotseatSessionService):
            return None
        if not self._settings.address.is_same_server(service.settings.address):
            return None
        known = await service.known(context.session)
        return StoredAs(known.session_id, known.incarnation)

    def _create(
        self, context: InvocationContext, session_id: str, stored_as: StoredAs | None
    ) -> Conversation:
        self._forget_idle()
        if self._connection is None:
            self._connection = Connection(self._settings)
        if stored_as is not None and session_id == stored_as.session_id:
            return Conversation(SessionLink(self._connection, session_id), stored_as=stored_as)
        root = getattr(context.agent, "root_agent", None) or context.agent
        creation = _wire.CreateSessionRequest(
            id=session_id,
            description=self._description,
            agent=getattr(root, "name", "") or "",
            app_name=context.session.app_name,
            user_id=context.session.user_id,
            source="plugin",
        )
        link = SessionLink(self._connection, session_id, creation=creation)
        return Conversation(link, stored_as=stored_as)

    async def _open(self, conversation: Conversation, context: InvocationContext) -> None:
        await background.run(conversation.link.open())
        # A completed one is about to be replaced; nobody needs to see it.
        if not conversation.link.completed:
            self._announce(conversation, context)

    def _announce(self, conversation: Conversation, context: InvocationContext) -> None:
        with self._lock:
            if conversation.announced:
                return
            conversation.announced = True
            token = self._connection.token if self._connection else None
        query = f"?token={token}" if token else ""
        notice(
            f"app '{context.session.app_name}' is in session {conversation.link.page_url}{query}"
        )

    def _forget_idle(self) -> None:
        for key in list(self._known):
            if len(self._known) < MAX_CONVERSATIONS:
                return
            if self._known[key].link.idle:
                del self._known[key]


def _key(context: InvocationContext) -> _Key:
    session = context.session
    return (session.app_name, session.user_id, session.id)


def _own_id(context: InvocationContext) -> str:
    session_id = context.session.id
    return session_id if _is_uuid(session_id) else str(uuid.uuid4())


def _is_uuid(text: str) -> bool:
    try:
        return len(text) == 36 and str(uuid.UUID(text)) == text
    except ValueError:
        return False
