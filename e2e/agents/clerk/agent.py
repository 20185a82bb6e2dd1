"""An agent whose tools ask the user for something before they act."""

from fastapi.openapi.models import APIKey, APIKeyIn, HTTPBearer
from google.adk.agents import Agent
from google.adk.auth.auth_credential import AuthCredential, AuthCredentialTypes
from google.adk.auth.auth_tool import AuthConfig
from google.adk.tools import FunctionTool, ToolContext, request_input

VAULT = AuthConfig(
    auth_scheme=APIKey(**{"in": APIKeyIn.header, "name": "X-Key"}),
    raw_auth_credential=AuthCredential(auth_type=AuthCredentialTypes.API_KEY),
    credential_key="vault",
)
ARCHIVE = AuthConfig(
    auth_scheme=HTTPBearer(),
    raw_auth_credential=AuthCredential(auth_type=AuthCredentialTypes.HTTP),
    credential_key="archive",
)


def pay(amount: int) -> str:
    """Pay, if somebody approves."""
    return f"paid {amount}"


def book(seats: int, tool_context: ToolContext) -> str:
    """Book seats, as many as somebody agrees to."""
    answer = tool_context.tool_confirmation
    if answer is None:
        tool_context.request_confirmation(
            hint=f"How many of the {seats} seats?", payload={"seats": seats}
        )
        return "asked"
    return f"booked {answer.payload['seats']}" if answer.confirmed else "booked nothing"


def open_vault(tool_context: ToolContext) -> str:
    """Open the vault, which has a key."""
    credential = tool_context.get_auth_response(VAULT)
    if credential is None:
        tool_context.request_credential(VAULT)
        return "locked"
    return f"opened with a key of {len(credential.api_key)} letters"


def read_archive(tool_context: ToolContext) -> str:
    """Read the archive, which wants a token."""
    credential = tool_context.get_auth_response(ARCHIVE)
    if credential is None:
        tool_context.request_credential(ARCHIVE)
        return "closed"
    return f"read with a token of {len(credential.http.credentials.token)} letters"


root_agent = Agent(
    name="clerk",
    model="gemini-2.5-flash",
    description="Asks before it acts.",
    instruction="You do nothing without asking.",
    tools=[
        FunctionTool(pay, require_confirmation=True),
        book,
        open_vault,
        read_archive,
        request_input,
    ],
)
