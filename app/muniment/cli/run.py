"""`muniment run`: a session on the screen, or with --prompt one turn in a pipe."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from muniment.approval.policy import Mode
from muniment.cli.shell import FAILED, INTERRUPTED, OK, Shell, UsageError, not_written

if TYPE_CHECKING:
    from muniment.approval.proposal import Approver
    from muniment.session.engine import Engine
    from muniment.session.events import Event
    from muniment.session.options import StartOptions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--new", action="store_true", help="start a new session (the default)")
    which.add_argument("--resume", metavar="ID", help="go on with an earlier session: its full id")
    parser.add_argument("--file", metavar="RECIPE", help="a recipe's name or path (default: assistant)")
    parser.add_argument("--param", action="append", metavar="K=V", default=[], help="a recipe parameter")
    parser.add_argument(
        "--mode", choices=[str(mode) for mode in Mode], default="manual", help="what runs unasked"
    )
    parser.add_argument("--prompt", metavar="TEXT", help="run without a screen; - reads standard input")
    parser.add_argument("--json", action="store_true", help="with --prompt: events, one JSON object a line")
    parser.add_argument(
        "--approve", choices=("ask", "none"), default="ask", help="none denies without asking"
    )
    parser.add_argument("--no-trace", action="store_true", help="keep no trace of requests and replies")
    add_model_arguments(parser)
    parser.set_defaults(action=run)


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options that choose a model over the settings."""
    parser.add_argument("--provider", choices=("rehearsal", "openai"), help="who answers")
    parser.add_argument("--model", metavar="NAME", help="the model's name")
    parser.add_argument("--base-url", metavar="URL", help="the server's base URL, such as …/v1")


def start_options(arguments: argparse.Namespace, *, headless: bool, preview: bool = False) -> StartOptions:
    """Return what the options say about the session."""
    from muniment.session.options import StartOptions

    return StartOptions(
        recipe=arguments.file,
        params=_params(arguments.param),
        resume_id=getattr(arguments, "resume", None),
        mode=Mode(getattr(arguments, "mode", "manual")),
        provider=arguments.provider,
        model=arguments.model,
        base_url=arguments.base_url,
        trace=not getattr(arguments, "no_trace", True),
        approve=getattr(arguments, "approve", "ask"),
        headless=headless,
        preview=preview,
    )


def _params(pairs: list[str]) -> dict[str, str]:
    if not pairs:
        return {}
    from muniment.session.recipes.recipe import parse_params

    return parse_params(pairs)


def opened(
    arguments: argparse.Namespace,
    shell: Shell,
    *,
    headless: bool,
    preview: bool = False,
    approver: Approver | None = None,
) -> Engine:
    """Open the session; a recipe's own endpoint is asked about on the terminal, default no."""
    from muniment.session.recipes.endpoint import EndpointUndecided, allow_endpoint
    from muniment.session.start import DirectoryGone, open_session

    options = start_options(arguments, headless=headless, preview=preview)
    while True:
        try:
            return open_session(
                options, shell.paths, shell.cwd, shell.environ, approver, settings=shell.settings
            )
        except EndpointUndecided as undecided:
            if not shell.has_terminal:
                raise
            shell.confirm(undecided.question.text)
            allow_endpoint(shell.paths, undecided.question)
        except DirectoryGone as gone:
            if not shell.has_terminal:
                from muniment.safety.errors import MunimentError

                raise MunimentError(
                    f"{gone.sentence} Only a yes at a terminal does that; resume it there."
                ) from None
            shell.confirm(f"{gone.sentence} Go on here?")
            options = replace(options, continue_here=True)


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Open the screen, or run one turn where a prompt is given."""
    if arguments.prompt is None:
        if arguments.json:
            raise UsageError("--json needs --prompt: the screen prints no events.")
        return _screen(arguments, shell)
    prompt = shell.text_or_stdin(arguments.prompt, "--prompt") or ""
    from muniment.cli.asking import terminal_approver

    # Before there is a loop: Ctrl+C at one of the questions would only be noted by it, and the reading go on.
    engine = opened(arguments, shell, headless=True, approver=terminal_approver(shell))
    return asyncio.run(_headless(engine, shell, prompt, json=arguments.json))


def _screen(arguments: argparse.Namespace, shell: Shell) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("The screen needs a terminal; in a pipe use: muniment run --prompt TEXT.")
    term = shell.environ.get("TERM", "")
    if term in ("", "dumb"):
        raise UsageError(f"TERM is {term or 'not set'}: no screen here; use: muniment run --prompt TEXT.")
    from muniment.tui.boot import Boot
    from muniment.tui.run import run_tui

    options = start_options(arguments, headless=False)
    return run_tui(Boot(shell.paths, shell.cwd, shell.environ, shell.settings, options, pick=arguments.pick))


async def _headless(engine: Engine, shell: Shell, prompt: str, *, json: bool) -> int:
    from muniment.session.events import TurnEnded

    if not first_message(engine, prompt).strip():
        await engine.close()
        raise UsageError("There is nothing to send: the prompt is empty, and the recipe has none of its own.")
    printer: _Printer = _JsonPrinter(shell, engine.id) if json else _TextPrinter(shell)
    interrupted = False
    unheard: OSError | None = None

    def interrupt() -> None:
        nonlocal interrupted
        interrupted = True
        engine.interrupt()

    def emit(event: Event) -> None:
        nonlocal unheard
        if unheard is not None:
            return
        try:
            printer(event)
        except OSError as error:
            # Nobody reads any more, so nothing more is to be done for him either; the turn is closed.
            unheard = error
            engine.interrupt()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # A run that was told to outlive its terminal does.
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, interrupt)
    try:
        fault = engine.model_fault
        for event in engine.opening:
            emit(as_error(event, fault))
        if fault:
            ended = TurnEnded("failed")
            emit(ended)
        else:
            ended = await engine.turn(first_message(engine, prompt), emit)
    finally:
        await engine.close()
    if isinstance(unheard, BrokenPipeError):
        raise unheard
    if unheard is not None:
        raise not_written(unheard)
    printer.end()
    if interrupted or ended.status == "cancelled":
        return INTERRUPTED
    return OK if ended.status == "completed" else FAILED


def as_error(event: Event, fault: str) -> Event:
    """Return the event of an opening as a pipe sees it: why no model can answer is what the run fails of."""
    from muniment.session.events import ErrorRaised, Notice

    return ErrorRaised(fault) if fault and event == Notice(fault) else event


def first_message(engine: Engine, prompt: str) -> str:
    """Return what a run in a pipe says first: the recipe's own first message, then the prompt."""
    return "\n\n".join(each for each in (engine.first_prompt, prompt) if each)


class _Printer(Protocol):
    def __call__(self, event: Event) -> None: ...

    def end(self) -> None: ...


class _JsonPrinter:
    def __init__(self, shell: Shell, session: str) -> None:
        self._shell = shell
        self._session = session

    def __call__(self, event: Event) -> None:
        from muniment.session.wire import event_as_dict

        fields = event_as_dict(event, self._session)
        if fields is not None:
            self._shell.json(fields)
            sys.stdout.flush()

    def end(self) -> None:
        sys.stdout.flush()


class _TextPrinter:
    """The reply on stdout as it comes; everything else on stderr."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._open = False
        self._unasked = False

    def __call__(self, event: Event) -> None:
        from muniment.safety.visible import reading
        from muniment.session import events as ev

        match event:
            case ev.TextDelta(delta):
                sys.stdout.write(reading(delta))
                sys.stdout.flush()
                self._open = True
            case ev.ReplyEnded():
                self.end()
            case ev.ToolFinished(_, tool, status, _, text):
                self._shell.note(f"{tool}: {status}" + ("" if status == "completed" else f"; {text}"))
            case ev.Decided(_, decision) if decision.by == "headless" and not decision.allowed:
                self._unasked = True
            case ev.TurnEnded() if self._unasked:
                self.end()
                self._unasked = False
                self._shell.note(
                    "nobody could be asked, so a write was denied; the screen asks (muniment run), "
                    "and --mode says beforehand what runs unasked."
                )
            case ev.ProposalMade(proposal, True):
                from muniment.cli.asking import proposal_lines

                for line in proposal_lines(proposal):
                    sys.stderr.write(line + "\n")
            case ev.Notice(text) | ev.ErrorRaised(text):
                self.end()
                self._shell.note(text)
            case _:
                return

    def end(self) -> None:
        if self._open:
            sys.stdout.write("\n")
            sys.stdout.flush()
            self._open = False
