"""A program with a runner of its own, a plugin in it, and a person who answers."""

from __future__ import annotations

import asyncio
import json
import threading
import uuid
from typing import Any

import pytest
from google.adk.agents import LlmAgent, ParallelAgent
from google.adk.apps.app import App
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.tool_context import ToolContext
from hotseat.adk import HotseatPlugin
from hotseat.errors import HotseatError
from pydantic import BaseModel, Field
from support import PATIENCE, Conversation, Server, responses_of, text_of

pytestmark = pytest.mark.asyncio


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


def multiply(a: int, b: int) -> int:
    """Multiplies two numbers."""
    return a * b


def math_app(*tools: Any, **options: Any) -> App:
    agent = LlmAgent(
        name="math_agent",
        model=options.pop("model", "gemini-2.5-flash"),
        instruction="You calculate.",
        tools=list(tools) or [add, multiply],
        **options,
    )
    return App(name="math", root_agent=agent, plugins=[HotseatPlugin()])


async def test_text_becomes_the_final_response(server: Server, meet: Any) -> None:
    conversation = Conversation(math_app())
    human = await meet(server, conversation.session_id)
    run = conversation.start("What is 2 + 3?")

    turn = await human.next_turn()
    assert turn.agent_name == "math_agent"
    assert "You calculate." in turn.request["config"]["systemInstruction"]
    assert turn.tool_names == {"add", "multiply"}
    await human.say(turn, "5")

    events = await run
    assert text_of(events[-1]) == "5"
    assert events[-1].author == "math_agent"


async def test_a_call_runs_the_real_tool_and_asks_again(server: Server, meet: Any) -> None:
    """FR-013."""
    conversation = Conversation(math_app())
    human = await meet(server, conversation.session_id)
    run = conversation.start("What is 2 + 3?")

    await human.call(await human.next_turn(), ("add", {"a": 2, "b": 3}))
    turn = await human.next_turn()
    assert turn.last_parts[0]["functionResponse"]["response"] == {"result": 5}
    await human.say(turn, "It is 5.")

    assert text_of((await run)[-1]) == "It is 5."
    runs = await human.payloads("tool_run")
    assert [(r["tool_name"], r["status"]) for r in runs] == [
        ("add", "started"),
        ("add", "succeeded"),
    ]
    assert runs[0]["call_id"] == runs[1]["call_id"]
    assert runs[1]["duration_ms"] >= 0


async def test_the_log_holds_each_event_exactly_as_adk_stored_it(server: Server, meet: Any) -> None:
    def remember(tool_context: ToolContext) -> str:
        """Remembers something."""
        tool_context.state["kept"] = 2**70
        tool_context.state["temp:scratch"] = "gone"
        return "done"

    conversation = Conversation(math_app(remember))
    human = await meet(server, conversation.session_id)
    run = conversation.start("Remember this")
    await human.call(await human.next_turn(), ("remember", {}))
    await human.say(await human.next_turn(), "Done.")
    await run

    session = await conversation.runner.session_service.get_session(
        app_name="math", user_id="ada", session_id=conversation.session_id
    )
    stored = [event.model_dump_json(by_alias=True, exclude_none=True) for event in session.events]
    logged = [event.raw_json.decode() for event in await human.log("event")]
    assert logged == stored
    assert [event.author for event in session.events] == ["user"] + ["math_agent"] * 3
    assert "gone" not in "".join(logged)
    assert [r["status"] for r in await human.payloads("run")] == ["started", "finished"]


async def test_two_calls_in_one_answer_run_side_by_side(server: Server, meet: Any) -> None:
    meeting = threading.Barrier(2, timeout=PATIENCE)

    def left() -> str:
        """Waits for right."""
        meeting.wait()
        return "l"

    def right() -> str:
        """Waits for left."""
        meeting.wait()
        return "r"

    conversation = Conversation(math_app(left, right))
    human = await meet(server, conversation.session_id)
    run = conversation.start("Both, please")
    await human.call(await human.next_turn(), ("left", {}), ("right", {}))
    turn = await human.next_turn()
    responses = [part["functionResponse"]["response"] for part in turn.last_parts]
    assert responses == [{"result": "l"}, {"result": "r"}]
    await human.say(turn, "Both ran.")
    await run


async def test_transfer_reaches_the_sub_agent(server: Server, meet: Any) -> None:
    clerk = LlmAgent(name="clerk", model="gemini-2.5-flash", description="Knows the forms.")
    desk = LlmAgent(name="desk", model="gemini-2.5-flash", sub_agents=[clerk])
    app = App(name="office", root_agent=desk, plugins=[HotseatPlugin()])
    conversation = Conversation(app)
    human = await meet(server, conversation.session_id)
    run = conversation.start("I need a form")

    turn = await human.next_turn()
    assert turn.agent_name == "desk"
    assert turn.payload["tools"]["transfer_to_agent"]["kind"] == "transfer"
    await human.call(turn, ("transfer_to_agent", {"agent_name": "clerk"}))
    turn = await human.next_turn()
    assert turn.agent_name == "clerk"
    await human.say(turn, "Here it is.")

    events = await run
    assert (events[-1].author, text_of(events[-1])) == ("clerk", "Here it is.")


async def test_an_agent_that_runs_as_a_tool_belongs_to_its_callers_session(
    server: Server, meet: Any
) -> None:
    expert = LlmAgent(name="expert", model="gemini-2.5-flash", description="Knows.", tools=[add])
    conversation = Conversation(math_app(AgentTool(expert)))
    human = await meet(server, conversation.session_id)
    run = conversation.start("Ask the expert")

    await human.call(await human.next_turn(), ("expert", {"request": "2 + 3?"}))
    nested = await human.next_turn()
    assert nested.agent_name == "expert"
    await human.call(nested, ("add", {"a": 2, "b": 3}))
    nested_again = await human.next_turn()
    await human.say(nested_again, "five")
    turn = await human.next_turn()
    assert (turn.agent_name, turn.parent_call_id) == ("math_agent", "")
    assert turn.last_parts[0]["functionResponse"]["response"] == {"result": "five"}
    await human.say(turn, "The expert says five.")
    await run

    tool_runs = await human.log("tool_run")
    outer, inner, *_ = [json.loads(event.raw_json) for event in tool_runs]
    call_id = outer["call_id"]
    assert (outer["tool_name"], inner["tool_name"]) == ("expert", "add")
    assert [event.parent_call_id for event in tool_runs] == ["", call_id, call_id, ""]
    assert nested.parent_call_id == nested_again.parent_call_id == call_id
    inner = [event for event in await human.log("event") if event.parent_call_id == call_id]
    assert [event.author for event in inner] == ["user", "expert", "expert", "expert"]
    assert len(await human.payloads("run")) == 2
    assert len(await human.all_sessions()) == 1


async def test_four_agents_at_once_are_answered_in_order(server: Server, meet: Any) -> None:
    workers = [LlmAgent(name=f"w{i}", model="gemini-2.5-flash") for i in range(4)]
    team = ParallelAgent(name="team", sub_agents=workers)
    conversation = Conversation(App(name="team", root_agent=team, plugins=[HotseatPlugin()]))
    human = await meet(server, conversation.session_id)
    run = conversation.start("Go")

    turns = [await human.next_turn() for _ in range(4)]
    assert {turn.agent_name for turn in turns} == {"w0", "w1", "w2", "w3"}
    assert len({turn.branch for turn in turns}) == 4
    for turn in turns:
        await human.say(turn, f"I am {turn.agent_name}")

    answers = {event.author: text_of(event) for event in await run}
    assert answers == {f"w{i}": f"I am w{i}" for i in range(4)}


async def test_a_tool_that_raises_answers_with_its_error(server: Server, meet: Any) -> None:
    """FR-028, the second of that number."""

    def fetch(url: str) -> str:
        """Fetches a page."""
        raise ConnectionError(f"{url} does not answer")

    conversation = Conversation(math_app(fetch))
    human = await meet(server, conversation.session_id)
    run = conversation.start("Fetch it")
    await human.call(await human.next_turn(), ("fetch", {"url": "http://x"}))
    turn = await human.next_turn()
    expected = {"error": {"type": "ConnectionError", "message": "http://x does not answer"}}
    assert turn.last_parts[0]["functionResponse"]["response"] == expected
    await human.say(turn, "It does not answer.")
    await run

    failed = (await human.payloads("tool_run"))[-1]
    assert failed["status"] == "failed"
    assert failed["error_type"] == "ConnectionError"
    assert "in fetch" in failed["traceback"]


async def test_the_agents_own_error_callback_is_asked_first(server: Server, meet: Any) -> None:
    def fetch() -> str:
        """Fails."""
        raise ConnectionError("no")

    class Later(BasePlugin):
        asked = 0

        async def on_tool_error_callback(self, **_: Any) -> None:
            self.asked += 1

    def rescue(tool: Any, args: Any, tool_context: Any, error: Exception) -> dict[str, str]:
        return {"rescued": str(error)}

    app = math_app(fetch, on_tool_error_callback=rescue)
    later = Later(name="later")
    app.plugins.append(later)
    conversation = Conversation(app)
    human = await meet(server, conversation.session_id)
    run = conversation.start("Fetch it")
    await human.call(await human.next_turn(), ("fetch", {}))
    turn = await human.next_turn()
    assert turn.last_parts[0]["functionResponse"]["response"] == {"rescued": "no"}
    assert later.asked == 1
    await human.say(turn, "Rescued.")
    await run


async def test_a_cancelled_wait_dismisses_its_turn(server: Server, meet: Any) -> None:
    conversation = Conversation(math_app())
    human = await meet(server, conversation.session_id)
    run = conversation.start("Wait for me")
    turn = await human.next_turn()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run

    told = {}
    while told.keys() != {"response", "run"}:
        event = await human.next_event("response", "run")
        if b"started" not in event.raw_json:
            told[event.kind] = event
    assert told["response"].turn_id == turn.turn_id
    assert "error" in json.loads(told["response"].raw_json)
    assert json.loads(told["run"].raw_json)["status"] == "cancelled"


async def test_a_dismissed_turn_ends_the_run_with_an_error_event(server: Server, meet: Any) -> None:
    conversation = Conversation(math_app())
    human = await meet(server, conversation.session_id)
    run = conversation.start("Never mind")
    await human.dismiss(await human.next_turn(), "I give up")
    events = await run
    assert events[-1].error_code
    assert "I give up" in events[-1].error_message


async def test_the_server_may_die_while_a_turn_waits(server: Server, meet: Any) -> None:
    conversation = Conversation(math_app())
    human = await meet(server, conversation.session_id)
    run = conversation.start("Are you there?")
    before = await human.next_turn()

    server.kill()
    server.start()

    human = await meet(server, conversation.session_id)
    after = await human.next_turn()
    assert after.turn_id == before.turn_id
    await human.say(after, "Here again.")
    assert text_of((await run)[-1]) == "Here again."
    assert len(await human.log("request")) == 1


async def test_a_server_that_lost_its_data_gets_session_and_turn_again(
    server: Server, meet: Any
) -> None:
    conversation = Conversation(math_app())
    human = await meet(server, conversation.session_id)
    run = conversation.start("Are you there?")
    turn = await human.next_turn()

    token = (server.data / "token").read_text()
    server.kill()
    for file in server.data.iterdir():
        if file.is_file():
            file.unlink()
    (server.data / "token").write_text(token)
    server.start()

    human = await meet(server, conversation.session_id)
    again = await human.next_turn()
    assert again.turn_id == turn.turn_id
    await human.say(again, "Here.")
    assert text_of((await run)[-1]) == "Here."


async def test_a_plugin_waits_for_a_server_that_starts_later(
    new_server: Any, meet: Any, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    server = Server(tmp_path)
    agent = LlmAgent(name="a", model="gemini-2.5-flash")
    plugin = HotseatPlugin(url=server.url)
    conversation = Conversation(App(name="late", root_agent=agent, plugins=[plugin]))
    run = conversation.start("Hello?")
    said = ""
    async with asyncio.timeout(PATIENCE):
        while "not reachable" not in said:
            await asyncio.sleep(0)
            said += capsys.readouterr().err
    assert f"Hotseat is not reachable at {server.url}; start it with `hotseat web`" in said
    (tmp_path / ".hotseat").mkdir()

    server.data = tmp_path / ".hotseat"
    server.start()
    try:
        human = await meet(server, conversation.session_id)
        await human.say(await human.next_turn(), "Hello.")
        assert text_of((await run)[-1]) == "Hello."
    finally:
        server.stop()


async def test_other_agents_go_on_calling_their_models(server: Server, meet: Any) -> None:
    from google.adk.models.base_llm import BaseLlm
    from google.adk.models.llm_response import LlmResponse
    from google.genai import types

    class Parrot(BaseLlm):
        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
            yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="Arr")]))

    agent = LlmAgent(name="parrot", model=Parrot(model="parrot"))
    plugin = HotseatPlugin(agents=["somebody_else"])
    conversation = Conversation(App(name="zoo", root_agent=agent, plugins=[plugin]))
    human = await meet(server, conversation.session_id)
    events = await conversation.ask("Polly?")
    assert text_of(events[-1]) == "Arr"
    assert await human.log("request") == []
    assert len(await human.log("event")) == 2


async def test_an_unknown_model_name_is_no_obstacle(server: Server, meet: Any) -> None:
    conversation = Conversation(math_app(model="model-of-next-year"))
    human = await meet(server, conversation.session_id)
    run = conversation.start("Hello")
    await human.say(await human.next_turn(), "Hello.")
    assert text_of((await run)[-1]) == "Hello."


async def test_an_unknown_model_that_is_really_called_names_agent_and_model(
    server: Server, meet: Any
) -> None:
    agent = LlmAgent(name="left_out", model="model-of-next-year")
    plugin = HotseatPlugin(agents=["somebody_else"])
    conversation = Conversation(App(name="x", root_agent=agent, plugins=[plugin]))
    await meet(server, conversation.session_id)
    with pytest.raises(HotseatError, match=r"model-of-next-year.*left_out"):
        await conversation.ask("Hello")


class Verdict(BaseModel):
    """What a judge says."""

    guilty: bool
    reason: str = Field(min_length=3)


async def test_an_output_schema_is_sent_and_its_answer_accepted(server: Server, meet: Any) -> None:
    """FR-015."""
    agent = LlmAgent(name="judge", model="gemini-2.5-flash", output_schema=Verdict)
    conversation = Conversation(App(name="court", root_agent=agent, plugins=[HotseatPlugin()]))
    human = await meet(server, conversation.session_id)
    run = conversation.start("Well?")
    turn = await human.next_turn()
    assert turn.payload["output_schema"]["properties"].keys() == {"guilty", "reason"}
    await human.say(turn, json.dumps({"guilty": False, "reason": "no proof"}))
    assert json.loads(text_of((await run)[-1]))["guilty"] is False


async def test_an_output_schema_with_tools_is_answered_by_a_call(server: Server, meet: Any) -> None:
    """FR-015."""
    conversation = Conversation(math_app(output_schema=Verdict))
    human = await meet(server, conversation.session_id)
    run = conversation.start("Well?")
    turn = await human.next_turn()
    if "set_model_response" not in turn.tool_names:
        pytest.skip("this ADK sends the schema and the tools side by side")
    # ADK declares the types alone; limits come from the model.
    exact = turn.payload["tools"]["set_model_response"]["parameters"]
    assert exact["properties"]["reason"]["minLength"] == 3
    await human.call(turn, ("set_model_response", {"guilty": True, "reason": "confessed"}))
    assert json.loads(text_of((await run)[-1]))["guilty"] is True


async def test_the_state_is_shown_with_the_request(server: Server, meet: Any) -> None:
    """FR-034."""

    def note(word: str, tool_context: ToolContext) -> str:
        """Notes a word."""
        tool_context.state["word"] = word
        return "noted"

    conversation = Conversation(math_app(note))
    human = await meet(server, conversation.session_id)
    run = conversation.start("Note it")
    await human.call(await human.next_turn(), ("note", {"word": "heron"}))
    turn = await human.next_turn()
    assert turn.payload["state"]["word"] == "heron"
    await human.say(turn, "Noted.")
    await run


async def test_a_second_message_goes_into_the_same_session(
    server: Server, meet: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    conversation = Conversation(math_app())
    human = await meet(server, conversation.session_id)
    for number in ("one", "two"):
        run = conversation.start(number)
        await human.say(await human.next_turn(), number)
        await run
    assert len(await human.log("event")) == 4
    said = capsys.readouterr().err
    assert said.count(f"/sessions/{conversation.session_id}") == 1
    assert f"token={server.token}" in said
    assert said.count("waiting for a person to answer for agent 'math_agent'") == 2


async def test_a_completed_session_is_followed_by_a_new_one(
    server: Server, meet: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    conversation = Conversation(math_app())
    human = await meet(server, conversation.session_id)
    run = conversation.start("one")
    await human.say(await human.next_turn(), "one")
    await run
    await human.complete()
    capsys.readouterr()

    run = conversation.start("two")
    said = ""
    async with asyncio.timeout(PATIENCE):
        while "/sessions/" not in said:
            await asyncio.sleep(0)
            said += capsys.readouterr().err
    second_id = said.partition("/sessions/")[2][:36]
    assert second_id != conversation.session_id
    second = await meet(server, second_id)
    await second.say(await second.next_turn(), "two")
    assert text_of((await run)[-1]) == "two"


async def test_a_wrong_token_is_told_with_what_to_do(server: Server) -> None:
    agent = LlmAgent(name="a", model="gemini-2.5-flash")
    plugin = HotseatPlugin(token="wrong")
    conversation = Conversation(App(name="x", root_agent=agent, plugins=[plugin]))
    with pytest.raises(RuntimeError, match="HOTSEAT_TOKEN"):
        await conversation.ask("Hello")


async def test_closing_the_plugin_releases_who_waits(server: Server, meet: Any) -> None:
    app = math_app()
    conversation = Conversation(app)
    human = await meet(server, conversation.session_id)
    run = conversation.start("Wait")
    await human.next_turn()
    await app.plugins[0].close()
    with pytest.raises(RuntimeError, match="closed"):
        await run


async def test_a_session_id_that_is_no_uuid_gets_a_hotseat_id(
    server: Server, meet: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    conversation = Conversation(math_app(), session_id="s1")
    run = conversation.start("Hello")
    said = ""
    async with asyncio.timeout(PATIENCE):
        while "/sessions/" not in said:
            await asyncio.sleep(0)
            said += capsys.readouterr().err
    hotseat_id = said.partition("/sessions/")[2][:36]
    assert uuid.UUID(hotseat_id)
    human = await meet(server, hotseat_id)
    await human.say(await human.next_turn(), "Hello.")
    await run
    session = await human.session()
    assert (session.agent, session.app_name, session.user_id) == ("math_agent", "math", "ada")
    assert session.source == "plugin"


async def test_responses_of_tools_reach_the_caller(server: Server, meet: Any) -> None:
    conversation = Conversation(math_app())
    human = await meet(server, conversation.session_id)
    run = conversation.start("2 * 3")
    await human.call(await human.next_turn(), ("multiply", {"a": 2, "b": 3}))
    await human.say(await human.next_turn(), "6")
    assert responses_of(await run) == [{"result": 6}]


@pytest.mark.parametrize("blocking", [True, False])
async def test_a_tool_of_the_program_can_be_cancelled_from_the_page(
    blocking: bool, server: Server, meet: Any
) -> None:
    released = threading.Event()

    def block() -> str:
        """Holds its thread."""
        released.wait(PATIENCE)
        return "too late"

    async def wait() -> str:
        """Holds its task."""
        await asyncio.Event().wait()
        return "never"

    conversation = Conversation(math_app(block if blocking else wait))
    human = await meet(server, conversation.session_id)
    run = conversation.start("Take your time")
    await human.call(await human.next_turn(), ("block" if blocking else "wait", {}))
    call_id = (await human.next_tool_run("started"))["call_id"]
    path = f"/api/v1/sessions/{conversation.session_id}/tools/{call_id}/cancel"
    await asyncio.to_thread(server.http, "POST", path)
    turn = await human.next_turn()
    response = turn.last_parts[0]["functionResponse"]["response"]
    assert response["error"]["type"] == "Cancelled"
    released.set()
    await human.say(turn, "Never mind.")
    await run
    assert (await human.payloads("tool_run"))[-1]["status"] == "cancelled"


async def test_a_cancelled_agent_tool_takes_its_turns_with_it(server: Server, meet: Any) -> None:
    expert = LlmAgent(name="expert", model="gemini-2.5-flash", description="Knows.")
    conversation = Conversation(math_app(AgentTool(expert)))
    human = await meet(server, conversation.session_id)
    run = conversation.start("Ask the expert")
    await human.call(await human.next_turn(), ("expert", {"request": "Well?"}))
    call_id = (await human.next_tool_run("started"))["call_id"]
    await human.next_turn()
    path = f"/api/v1/sessions/{conversation.session_id}/tools/{call_id}/cancel"
    await asyncio.to_thread(server.http, "POST", path)
    turn = await human.next_turn()
    assert turn.agent_name == "math_agent"
    async with asyncio.timeout(PATIENCE):
        while (await human.session()).pending_turns > 1:
            await human.next_event("response")
    await human.say(turn, "Without the expert.")
    await run


async def test_a_program_without_an_event_loop_of_its_own_is_served(
    server: Server, meet: Any
) -> None:
    from google.genai import types

    conversation = Conversation(math_app())
    await conversation.runner.session_service.create_session(
        app_name="math", user_id="ada", session_id=conversation.session_id
    )
    human = await meet(server, conversation.session_id)

    def program() -> list[Any]:
        message = types.Content(role="user", parts=[types.Part(text="Hello")])
        return list(
            conversation.runner.run(
                user_id="ada", session_id=conversation.session_id, new_message=message
            )
        )

    run = asyncio.create_task(asyncio.to_thread(program))
    await human.call(await human.next_turn(), ("add", {"a": 1, "b": 1}))
    await human.say(await human.next_turn(), "Two.")
    assert text_of((await run)[-1]) == "Two."


async def test_an_event_that_another_plugin_replaced_is_logged_as_adk_stored_it(
    server: Server, meet: Any
) -> None:
    class Shout(BasePlugin):
        async def on_event_callback(self, *, invocation_context: Any, event: Any) -> Any:
            loud = event.model_copy(deep=True)
            for part in loud.content.parts:
                part.text = part.text and part.text.upper()
            return loud

    app = math_app()
    app.plugins.insert(0, Shout(name="shout"))
    conversation = Conversation(app)
    human = await meet(server, conversation.session_id)
    run = conversation.start("Hello")
    await human.say(await human.next_turn(), "quiet")
    await run
    session = await conversation.runner.session_service.get_session(
        app_name="math", user_id="ada", session_id=conversation.session_id
    )
    stored = [event.model_dump_json(by_alias=True, exclude_none=True) for event in session.events]
    assert [event.raw_json.decode() for event in await human.log("event")] == stored


async def test_a_model_answer_of_another_plugin_is_not_asked_for_again(
    server: Server, meet: Any
) -> None:
    from google.adk.models.llm_response import LlmResponse
    from google.genai import types

    class Cache(BasePlugin):
        async def before_model_callback(self, **_: Any) -> LlmResponse:
            content = types.Content(role="model", parts=[types.Part(text="cached")])
            return LlmResponse(content=content)

    app = math_app()
    app.plugins.insert(0, Cache(name="cache"))
    conversation = Conversation(app)
    human = await meet(server, conversation.session_id)
    events = await conversation.ask("Hello")
    assert text_of(events[-1]) == "cached"
    assert await human.log("request") == []
