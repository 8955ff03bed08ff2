"""Base URLs, keys and the choice of a wire, checked before anything is sent."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.model.address import OFFICIAL_URL, clean_base_url, endpoint_of, read_key
from muniment.model.base import ModelError
from muniment.model.factory import build_model
from muniment.model.openai_chat import OpenAIChatModel
from muniment.model.openai_responses import OpenAIResponsesModel
from muniment.model.rehearsal import RehearsalModel
from muniment.model.retry import RetryingModel
from muniment.model.scripted import ScriptedModel
from muniment.paths import Paths
from muniment.settings import ModelSettings, Settings, load_settings
from support.server import Reply, serve
from support.wire import hear

ENV = {"OPENAI_API_KEY": "sk-test-1234567890"}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(Paths(*(tmp_path / name for name in ("config", "data", "state", "cache"))), {})


@pytest.mark.parametrize(
    ("written", "used"),
    [
        ("http://127.0.0.1:8001/v1", "http://127.0.0.1:8001/v1"),
        ("http://127.0.0.1:8001/v1/", "http://127.0.0.1:8001/v1"),
        ("http://127.0.0.1:8001/v1//", "http://127.0.0.1:8001/v1"),
        ("http://127.0.0.1:8001//v1", "http://127.0.0.1:8001/v1"),
        ("  http://127.0.0.1:8001/v1 \n", "http://127.0.0.1:8001/v1"),
        ("HTTP://127.0.0.1:8001", "http://127.0.0.1:8001"),
        ("http://[::1]:8001/v1", "http://[::1]:8001/v1"),
    ],
)
def test_blanks_and_slashes_around_a_base_url_do_not_matter(written: str, used: str) -> None:
    assert clean_base_url(written) == used


@pytest.mark.parametrize(
    ("written", "advice"),
    [
        ("127.0.0.1:8001/v1", "http://127.0.0.1:8001/v1"),
        ("ftp://127.0.0.1/v1", "http or https"),
        ("http://", "no http or https address"),
        ("http://127.0.0.1:99999/v1", "no address"),
        ("http://[::1/v1", "no address"),
        ("http://127.0.0.1:8001/v1/chat/completions", "write http://127.0.0.1:8001/v1."),
        ("http://127.0.0.1:8001/v1/responses/", "write http://127.0.0.1:8001/v1."),
        ("http://user:secret@127.0.0.1/v1", "model.api_key_env"),
        ("http://127.0.0.1/v1?key=secret", "up to /v1 only"),
        ("http://127.0.0.1/v1#top", "up to /v1 only"),
        ("http://127.0.0.1/v 1", "blanks or control characters"),
        ("http://127.0.0.1/v1\x1b[2J", "blanks or control characters"),
    ],
)
def test_a_base_url_that_cannot_work_is_refused_with_the_likely_fix(written: str, advice: str) -> None:
    with pytest.raises(ModelError) as caught:
        clean_base_url(written)
    assert caught.value.kind == "settings"
    assert "model.base_url" in caught.value.sentence
    assert advice in caught.value.sentence
    assert "\x1b" not in caught.value.sentence
    if "user:" in written:
        assert "secret" not in caught.value.sentence


@given(st.text(max_size=60) | st.from_regex(r"\Ahttps?://[\w.:/@?#\[\]-]{0,40}\Z"))
def test_any_text_is_an_address_without_a_slash_at_its_end_or_one_clear_refusal(written: str) -> None:
    refusal: ModelError | None = None
    try:
        url = clean_base_url(written)
    except ModelError as error:
        refusal = error
    if refusal is None:
        assert url.startswith(("http://", "https://"))
        assert not url.endswith("/")
        assert clean_base_url(url) == url
    else:
        assert refusal.kind == "settings"
        assert "\n" not in refusal.sentence


@pytest.mark.parametrize(
    ("value", "key"),
    [
        (None, None),
        ("", None),
        ("  \n", None),
        ('""', None),
        ("sk-abc", "sk-abc"),
        (" sk-abc\n", "sk-abc"),
        ('"sk-abc"', "sk-abc"),
        ("' sk-abc '", "sk-abc"),
    ],
)
def test_blanks_and_quotes_around_a_key_do_not_belong_to_it(value: str | None, key: str | None) -> None:
    assert read_key({} if value is None else {"K": value}, "K") == key


@pytest.mark.parametrize("value", ["sk-a\nsk-b", "sk-a b", "sk-ä", "sk-\x00"])
def test_a_key_that_cannot_be_sent_is_refused_without_being_told(value: str) -> None:
    with pytest.raises(ModelError) as caught:
        read_key({"MY_KEY": value}, "MY_KEY")
    assert "MY_KEY" in caught.value.sentence
    assert "sk-" not in caught.value.sentence


@pytest.mark.parametrize("value", [None, "", " ", "''"])
def test_the_official_host_needs_a_key_and_says_how_to_set_it(value: str | None) -> None:
    settings = ModelSettings(name="m", api_key_env="MY_KEY")
    with pytest.raises(ModelError) as caught:
        endpoint_of(settings, {} if value is None else {"MY_KEY": value})
    assert "MY_KEY" in caught.value.sentence
    assert "model.api_key_env" in caught.value.sentence


def test_another_host_needs_no_key_and_gets_the_one_there_is() -> None:
    settings = ModelSettings(name="m", base_url="http://127.0.0.1:1/v1")
    assert endpoint_of(settings, {}).key is None
    found = endpoint_of(settings, ENV)
    assert found.key == ENV["OPENAI_API_KEY"]
    assert ENV["OPENAI_API_KEY"] not in repr(found)


def test_a_missing_name_says_which_setting_and_flag() -> None:
    with pytest.raises(ModelError, match=r"model\.name.*--model"):
        endpoint_of(ModelSettings(base_url="http://127.0.0.1:1/v1", name=" "), {})


@pytest.mark.parametrize(
    ("base_url", "api", "wire"),
    [
        (None, "auto", "responses"),
        ("https://api.openai.com/v1/", "auto", "responses"),
        ("http://127.0.0.1:1/v1", "auto", "chat"),
        (None, "chat", "chat"),
        ("http://127.0.0.1:1/v1", "responses", "responses"),
    ],
)
def test_the_wire_follows_the_setting_and_else_the_host(base_url: str | None, api: str, wire: str) -> None:
    found = endpoint_of(ModelSettings(name="m", base_url=base_url, api=api), ENV)  # type: ignore[arg-type]
    assert found.wire == wire
    assert found.official is (base_url is None or "openai.com" in base_url)


@pytest.mark.parametrize(
    ("base_url", "loopback"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://127.8.9.1/v1", True),
        ("http://localhost:1/v1", True),
        ("http://[::1]/v1", True),
        ("http://127.0.0.1.example.test/v1", False),
        (OFFICIAL_URL, False),
    ],
)
def test_this_machine_is_known_by_its_addresses(base_url: str, loopback: bool) -> None:
    assert endpoint_of(ModelSettings(name="m", base_url=base_url), ENV).loopback is loopback


def test_nothing_configured_is_the_rehearsal_model(settings: Settings) -> None:
    assert isinstance(build_model(settings, {}), RehearsalModel)
    assert isinstance(build_model(settings.with_overrides(provider="rehearsal"), ENV), RehearsalModel)


def test_settings_choose_the_wire_behind_the_retries(settings: Settings) -> None:
    local = settings.with_overrides(model="m", base_url="http://127.0.0.1:1/v1")
    chat = build_model(local, {})
    assert isinstance(chat, RetryingModel)
    assert isinstance(chat.inner, OpenAIChatModel)
    assert (chat.provider, chat.name) == ("openai", "m")
    official = build_model(settings.with_overrides(model="m"), ENV)
    assert isinstance(official, RetryingModel)
    assert isinstance(official.inner, OpenAIResponsesModel)


def test_a_script_stands_in_for_whatever_is_configured(settings: Settings) -> None:
    script = ScriptedModel(["Hello"])
    assert build_model(settings, ENV, scripted=script) is script


def test_a_provider_without_its_key_is_refused_before_anything_is_sent(settings: Settings) -> None:
    with pytest.raises(ModelError) as caught:
        build_model(settings.with_overrides(provider="openai", model="m"), {})
    assert caught.value.kind == "settings"


@pytest.mark.parametrize("ending", ["", "/", "//"])
async def test_a_built_model_answers_over_http(settings: Settings, ending: str) -> None:
    with serve([Reply(text="ok")]) as server:
        model = build_model(settings.with_overrides(model="m", base_url=server.base_url + ending), {})
        try:
            assert (await hear(model)).finished.text == "ok"
        finally:
            await model.close()
        assert server.requests[0].path == "/v1/chat/completions"
