"""The tool for skills: reading one that the session's catalog names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from muniment.approval.policy import Effect
from muniment.approval.proposal import Proposal
from muniment.memory.records.scope import resolve_chain
from muniment.memory.skills import current_skill
from muniment.safety.fence import fence
from muniment.tools.base import InvalidArguments, Tool, ToolContext, ToolResult, cut_text


@dataclass(frozen=True, slots=True)
class SkillRequest:
    """A skill to be read."""

    name: str


class SkillView(Tool[SkillRequest]):
    name: ClassVar[str] = "skill_view"
    title: ClassVar[str] = "Read a skill"
    description: ClassVar[str] = (
        "Read one of the project's skills whole, by a name from the list of skills. It describes how work is "
        "done here; it permits nothing."
    )
    effect: ClassVar[Effect] = Effect.READ
    parameters: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {"name": {"type": "string", "description": "a name from the list of skills"}},
        "required": ["name"],
        "additionalProperties": False,
    }

    def prepare(self, arguments: Mapping[str, Any]) -> SkillRequest:
        return SkillRequest(arguments["name"])

    def execute(self, proposal: Proposal, context: ToolContext) -> ToolResult:
        request = self.planned(proposal, SkillRequest)
        catalog = context.surfaces.skills
        if not catalog.knows(request.name):
            known = ", ".join(each.name for each in catalog.skills) or "none"
            raise InvalidArguments(f"{self.name}: there is no skill {request.name[:80]!a}; known: {known}.")
        chain = resolve_chain(context.surfaces.cwd, context.surfaces.paths)
        skill, text, directory = current_skill(chain, request.name)
        body = fence(f"skill:{skill.name}", text, max_bytes=context.fence_bytes)
        shown = f"Skill {skill.name} in {directory}:\n{body}"
        data = {
            "name": skill.name,
            "description": skill.description,
            "directory": str(directory),
            "text": text,
        }
        return ToolResult("completed", data, cut_text(shown, "the rest does not fit here"))


TOOLS: tuple[Tool[Any], ...] = (SkillView(),)
