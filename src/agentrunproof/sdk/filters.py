"""The filter of model inputs that a plan declares, recording what it is given and what it gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentrunproof.plan.items import filtered
from agentrunproof.plan.model import InputFilter
from agentrunproof.sdk import normal
from agentrunproof.sdk.capture import Recorder


class FilterFailure(Exception):
    """The failure a plan declares for the filter of model inputs."""


def recording_filter(spec: InputFilter, recorder: Recorder) -> Callable[[Any], Any]:
    """A ``call_model_input_filter`` that does what `spec` says, from 0.2.8 on.

    It works on the very list that it is given, as a filter may: the SDK gives a copy away.
    """
    from agents.run import ModelInputData

    async def changed(data: Any) -> Any:
        recorder.context_given("input_filter", data.agent.name, data.context)
        items, instructions = data.model_data.input, data.model_data.instructions
        given = [normal.plain(item) for item in items]
        failure = None if spec.error is None else FilterFailure(spec.error)
        made, told = filtered(spec, items, instructions)
        items[:] = made
        recorder.add("input_filtered", agent=data.agent.name, given=tuple(given),
                     given_instructions=normal.text(instructions or ""),
                     input=tuple(normal.plain(item) for item in items),
                     instructions=normal.text(told or ""),
                     error={} if failure is None else normal.error(failure))
        if failure is not None:
            raise failure
        return items if spec.malformed else ModelInputData(input=items, instructions=told)

    return changed
