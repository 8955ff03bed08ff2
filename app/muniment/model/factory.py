"""The one place that turns settings into a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from muniment.model.base import Model

if TYPE_CHECKING:
    from muniment.settings import Settings


def build_model(settings: Settings, environ: Mapping[str, str], *, scripted: Model | None = None) -> Model:
    """Return the model that the settings name; `scripted` stands in for whatever they say.

    Nothing is sent and no client library is loaded. Raise `ModelError` of kind `settings` where a name, an
    address or a key is missing or unusable; the sentence names the setting or variable, never the key.
    """
    if scripted is not None:
        return scripted
    from muniment.settings import effective_provider

    provider, _ = effective_provider(settings, environ)
    if provider == "rehearsal":
        from muniment.model.rehearsal import RehearsalModel

        return RehearsalModel()
    from muniment.model.address import endpoint_of
    from muniment.model.retry import RetryingModel

    endpoint = endpoint_of(settings.model, environ)
    inner: Model
    if endpoint.wire == "responses":
        from muniment.model.openai_responses import OpenAIResponsesModel

        inner = OpenAIResponsesModel(endpoint)
    else:
        from muniment.model.openai_chat import OpenAIChatModel

        inner = OpenAIChatModel(endpoint)
    return RetryingModel(inner)
