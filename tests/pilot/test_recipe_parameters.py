"""A recipe named at the start whose parameters are still to be given: a form, and never an empty screen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Button, Input

from muniment.session.options import StartOptions
from muniment.tui.app import MunimentApp
from muniment.tui.screens.picker import ParameterForm, RecipePicker
from support.app import boot_for, project_at, ready, say, screen_text, until

STUDY = (
    "name: study\ndescription: d\nprompt: |\n  Look at {{ topic }} and {{ depth }}.\n"
    "parameters:\n- {name: topic, description: what, required: true}\n"
    "- {name: depth, description: how far, default: a little}\n"
)


@asynccontextmanager
async def started(
    tmp_path: Path, params: Mapping[str, str], size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[MunimentApp, Pilot[int]]]:
    """Run the app on a recipe by its file, until its form is there."""
    project = project_at(tmp_path / "p")
    file = project / "study.yaml"
    file.write_text(STUDY, encoding="utf-8")
    options = StartOptions(recipe=str(file), params=params, provider="rehearsal")
    app = MunimentApp(boot_for(project, options=options))
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ParameterForm))
        await pilot.pause()
        yield app, pilot


def field(app: MunimentApp, number: int) -> Input:
    return app.screen.query_one(f"#parameter-{number}", Input)


def said(app: MunimentApp) -> list[str]:
    assert app.engine is not None
    return [each["text"].strip() for each in app.engine.replay() if each.kind == "user_message"]


@pytest.mark.parametrize("size", [(80, 24), (40, 20)])
async def test_a_recipe_without_its_required_parameter_asks_for_it_and_runs(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with started(tmp_path, {"depth": "much"}, size) as (app, pilot):
        assert "topic (required): what" in screen_text(app)
        assert "--param" not in screen_text(app)
        assert field(app, 1).value == "much"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Fill in topic." in screen_text(app))
        await pilot.press(*"tea", "enter")
        assert field(app, 1).has_focus
        await pilot.press("enter")
        assert isinstance(app.focused, Button)
        await pilot.press("enter")
        await ready(pilot, app)
        await until(pilot, lambda: said(app) == ["Look at tea and much."])
        first = app.engine
        await say(pilot, app, "/new")
        await until(pilot, lambda: app.engine is not first)
        await ready(pilot, app)
        await until(pilot, lambda: said(app) == ["Look at tea and much."])


@pytest.mark.parametrize("provider", ["rehearsal", None])
async def test_the_prompt_of_a_recipe_is_sent_at_once_whatever_is_to_be_told_before_it(
    tmp_path: Path, provider: str | None
) -> None:
    project = project_at(tmp_path / "p")
    file = project / "study.yaml"
    file.write_text(STUDY, encoding="utf-8")
    options = StartOptions(recipe=str(file), params={"topic": "tea"}, provider=provider)
    app = MunimentApp(boot_for(project, options=options))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: "Look at tea" in screen_text(app))
        await ready(pilot, app)
        await until(pilot, lambda: said(app) == ["Look at tea and a little."])
        # Who answers is told where nobody said it.
        assert ("no real model is configured" in screen_text(app)) is (provider is None)


async def test_a_parameter_that_the_recipe_has_not_is_told_in_its_form(tmp_path: Path) -> None:
    async with started(tmp_path, {"topik": "tea"}) as (app, pilot):
        assert "has no parameter topik (did you mean topic?)" in screen_text(app)
        await pilot.press(*"tea", "ctrl+s")
        await ready(pilot, app)
        await until(pilot, lambda: said(app) == ["Look at tea and a little."])


async def test_escape_from_the_form_leads_to_the_other_recipes_and_out(tmp_path: Path) -> None:
    async with started(tmp_path, {}) as (app, pilot):
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RecipePicker))
        await pilot.press("escape")
        await until(pilot, lambda: app.return_code == 0)
        assert app.engine is None


@pytest.mark.parametrize("content", [None, "name: study\nmode: bypass\n"], ids=["missing", "faulty"])
async def test_a_recipe_that_cannot_be_used_leads_to_the_choice_of_another(
    tmp_path: Path, content: str | None
) -> None:
    project = project_at(tmp_path / "p")
    file = project / "study.yaml"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    options = StartOptions(recipe=str(file), provider="rehearsal")
    app = MunimentApp(boot_for(project, options=options))
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, RecipePicker))
        await until(pilot, lambda: "study.yaml" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: app.engine is not None and app.engine.recipe.name == "assistant")
