"""A recorded model call as a subject."""

from __future__ import annotations

from collections.abc import Callable

from agentrunproof.ablation.dialects import Body
from agentrunproof.ablation.pieces import Context
from agentrunproof.ablation.subject import Decision, Edit, Piece


class RecordedCall:
    """A recorded model call as a subject.

    Args:
        context: the pieces of its request.
        model: takes a request body and gives the decision; called for each rerun.
        deterministic: whether one rerun per edit tells everything (temperature 0, a rule).
    """

    def __init__(self, context: Context, model: Callable[[Body], Decision], *,
                 deterministic: bool = False) -> None:
        self.context = context
        self.deterministic = deterministic
        self.texts = context.texts
        self.groups = context.groups
        self.earlier = context.earlier
        self.leaf = context.leaf
        self.group_id = context.group_id
        self._model = model

    def pieces(self) -> tuple[Piece, ...]:
        return self.context.pieces

    def rerun(self, edit: Edit) -> Decision:
        """Ask the model once with the edit made."""
        return self._model(self.context.edited(edit))
