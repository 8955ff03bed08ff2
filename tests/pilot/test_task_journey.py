"""A task on the screen: reported without a dialog, ended by the user, its note kept from every model."""

from __future__ import annotations

from pathlib import Path

from muniment.session.options import StartOptions
from support.app import boot_for, opened, project_at, ready, say, screen_text, until

RECIPE = "name: review-work\ndescription: Review\nagent: reviewer\ntask: {capture: true}\n"


def task_options(tmp_path: Path) -> StartOptions:
    path = tmp_path / "review-work.yaml"
    path.write_text(RECIPE)
    return StartOptions(recipe=str(path), provider="rehearsal")


def notes(project: Path) -> list[str]:
    return [each.read_text(encoding="utf-8") for each in sorted(project.glob(".muniment/notes/inbox/*.md"))]


async def test_a_report_runs_unasked_and_its_note_waits_and_reaches_no_model(tmp_path: Path) -> None:
    project = project_at(tmp_path / "study")
    async with opened(boot_for(project, options=task_options(tmp_path)), size=(120, 40)) as (app, pilot):
        await say(pilot, app, "Finish the task: success\nfindings: Oil the fan twice.")
        await ready(pilot, app)
        assert app.desk.pending == ()
        (note,) = notes(project)
        assert "agent: reviewer" in note
        assert "Oil the fan twice." in note
        assert app.engine is not None
        assert app.engine.task is not None
        assert app.engine.task.outcome == "success"
        first = app.engine.id
        await say(pilot, app, "/new")
        await until(pilot, lambda: app.engine is not None and app.engine.id != first)
        assert "Oil the fan" not in repr(app.engine.assemble_preview("the fan").request)


async def test_the_user_ends_a_task_with_an_outcome_that_is_asked_for(tmp_path: Path) -> None:
    project = project_at(tmp_path / "study")
    async with opened(boot_for(project, options=task_options(tmp_path)), size=(120, 40)) as (app, pilot):
        await say(pilot, app, "hello")
        await ready(pilot, app)
        await say(pilot, app, "/done failure")
        await until(pilot, lambda: "The task ended: failure" in screen_text(app))
        assert notes(project) == []
        await say(pilot, app, "/done success")
        await until(pilot, lambda: "ended already" in screen_text(app))


async def test_a_note_of_the_user_is_put_into_the_inbox_under_his_own_name(tmp_path: Path) -> None:
    project = project_at(tmp_path / "study")
    async with opened(boot_for(project), size=(120, 40)) as (app, pilot):
        await say(pilot, app, "/note The pump leaks.")
        await until(pilot, lambda: notes(project))
        (note,) = notes(project)
        assert "agent: user" in note
        assert "source: user" in note
        assert "The pump leaks." in note
