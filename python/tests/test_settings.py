"""Where a server is looked for, and with which token."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hotseat.adk import HotseatPlugin
from hotseat.errors import HotseatError
from hotseat.settings import Address, Settings


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("example.org", "http://example.org:4687"),
        ("example.org:99", "http://example.org:99"),
        ("http://example.org:99", "http://example.org:99"),
        ("http://example.org/", "http://example.org:80"),
        ("https://example.org", "https://example.org:443"),
        ("grpc://example.org", "http://example.org:4687"),
        ("hotseat://example.org:99", "http://example.org:99"),
        ("[::1]:99", "http://[::1]:99"),
    ],
)
def test_addresses_are_understood_in_all_their_forms(text: str, url: str) -> None:
    assert Address.parse(text).url == url


@pytest.mark.parametrize("text", ["ftp://example.org", "http://", "example.org:port", ""])
def test_a_wrong_address_is_refused(text: str) -> None:
    with pytest.raises(HotseatError, match="not an address"):
        Address.parse(text)


def test_without_settings_the_local_server_is_meant() -> None:
    assert Settings.resolve().address.url == "http://127.0.0.1:4687"


def test_the_constructor_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTSEAT_URL", "http://environment:1")
    monkeypatch.setenv("HOTSEAT_TOKEN", "environment")
    settings = Settings.resolve("http://constructor:2", "constructor")
    assert settings.address.host == "constructor"
    assert settings.candidate_tokens() == ["constructor"]
    settings = Settings.resolve()
    assert settings.address.host == "environment"
    assert settings.candidate_tokens() == ["environment"]


def test_tokens_are_found_in_the_documented_order(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for folder, token in (("data", "from data"), ("work/.hotseat", "from parent")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "token").write_text(f"{token}\n")
    (tmp_path / "elsewhere").write_text("from record")
    record = tmp_path / "state" / "hotseat" / "servers" / "127.0.0.1_4687.json"
    record.parent.mkdir(parents=True)
    record.write_text(json.dumps({"url": "…", "token_file": str(tmp_path / "elsewhere")}))
    (tmp_path / "work" / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "work" / "deep")
    monkeypatch.setenv("HOTSEAT_DATA", str(tmp_path / "data"))
    expected = ["from data", "from parent", "from record"]
    assert Settings.resolve().candidate_tokens() == expected
    assert Settings.resolve("localhost").candidate_tokens() == expected


def test_a_token_that_lies_around_is_not_shown_to_other_machines(tmp_path: Path) -> None:
    (tmp_path / ".hotseat").mkdir()
    (tmp_path / ".hotseat" / "token").write_text("secret")
    assert Settings.resolve("example.org").candidate_tokens() == []


def test_target_agents_come_from_constructor_or_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOTSEAT_AGENTS", "one, two,")
    plugin = HotseatPlugin()
    assert (plugin.targets("one"), plugin.targets("three")) == (True, False)
    plugin = HotseatPlugin(agents=["three"])
    assert (plugin.targets("one"), plugin.targets("three")) == (False, True)
    monkeypatch.delenv("HOTSEAT_AGENTS")
    assert HotseatPlugin().targets("anybody")


def test_the_plugin_takes_the_name_that_adk_web_gives_it() -> None:
    assert HotseatPlugin(name="hotseat.adk.HotseatPlugin").name == "hotseat.adk.HotseatPlugin"
