"""Differences between releases, with fakes in place of what old releases have."""

import copy
import dataclasses
import json
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

pytestmark = pytest.mark.sdk


@pytest.fixture
def compat():
    from agentrunproof.sdk import compat

    compat.takes.cache_clear()
    yield compat
    compat.takes.cache_clear()


@dataclasses.dataclass
class OldUsage:
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0


@dataclasses.dataclass
class OldResponse:
    output: list
    usage: object
    referenceable_id: str


@pytest.fixture
def old_calls(compat, monkeypatch):
    """A release whose tools are given no call; what the current span holds is up to the test."""
    span = SimpleNamespace(span_data=SimpleNamespace(input=None))
    monkeypatch.setattr(compat, "_tool_context", lambda: None)
    monkeypatch.setattr(compat, "tells_servers", lambda: False)
    monkeypatch.setattr(compat, "get_current_span", lambda: span)
    return span


def test_a_usage_without_details_is_made_and_read(compat, monkeypatch):
    monkeypatch.setattr(compat, "Usage", OldUsage)
    usage = compat.make_usage(10, 5, 0, 0)
    assert usage == OldUsage(1, 10, 5, 15)
    assert compat.token_details(usage) == (0, 0)
    assert compat.usage_entries(usage) is None


def test_a_usage_with_details_tells_them(compat):
    assert compat.token_details(compat.make_usage(10, 5, 4, 3)) == (4, 3)


def test_a_response_is_made_under_either_name_of_its_id(compat, monkeypatch):
    assert compat.make_response([], compat.make_usage(1, 1, 0, 0), "r-1").response_id == "r-1"
    monkeypatch.setattr(compat, "ModelResponse", OldResponse)
    assert compat.make_response([], None, "r-1").referenceable_id == "r-1"


def test_an_output_type_is_the_type_itself_where_there_is_no_schema_base(compat, monkeypatch):
    made = compat.output_type(int, strict=True)
    assert compat.output_type_name(made) == "int"
    monkeypatch.delattr(compat.agents, "AgentOutputSchemaBase")
    assert compat.output_type(int, strict=True) is int
    assert compat.output_type_name(SimpleNamespace(output_type_name=lambda: "int")) == "int"


def test_a_call_is_known_by_the_text_of_its_arguments(compat, old_calls):
    calls = [SimpleNamespace(type="function_call", call_id=id, arguments="{}") for id in "ab"]
    for call in calls:
        compat.mark_call(call)
    for call in reversed(calls):
        old_calls.span_data.input = copy.deepcopy(call.arguments)
        assert compat.tool_call(SimpleNamespace()) == (call.call_id, "{}")
        assert json.loads(json.dumps({"a": call.arguments})) == {"a": "{}"}


def test_a_context_that_knows_the_call_but_not_the_arguments_is_helped_out(compat, old_calls):
    old_calls.span_data.input = '{"n":1}'
    assert compat.tool_call(SimpleNamespace(tool_call_id="c")) == ("c", '{"n":1}')


def test_without_any_trace_of_the_call_it_has_no_id(compat, old_calls, monkeypatch):
    assert compat.tool_call(SimpleNamespace()) == ("", "")
    monkeypatch.setattr(compat, "get_current_span", lambda: None)
    assert compat.tool_call(SimpleNamespace()) == ("", "")


def test_a_call_of_a_server_is_known_by_the_span_where_only_contexts_know_calls(
        compat, old_calls, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(compat, "tells_servers", lambda: False)
    monkeypatch.setattr(compat, "get_current_span", lambda: old_calls)
    call = SimpleNamespace(type="function_call", call_id="a", arguments="{}")
    compat.mark_call(call)
    old_calls.span_data.input = call.arguments
    assert compat.span_call() == ("a", "{}")
    assert compat.tool_call(SimpleNamespace(tool_call_id="b", tool_arguments="[]")) == ("b", "[]")


def test_a_release_without_servers_serves_nothing(compat, monkeypatch):
    compat.serves.cache_clear()
    monkeypatch.setattr(compat, "Agent", type("Old", (), {"__init__": lambda self: None}))
    assert not compat.serves("cache_tools_list")
    compat.serves.cache_clear()


def test_what_is_no_call_is_left_alone(compat, old_calls):
    message = SimpleNamespace(type="message")
    compat.mark_call(message)
    assert vars(message) == {"type": "message"}


def test_calls_are_left_alone_where_contexts_and_servers_know_them(compat):
    call = SimpleNamespace(type="function_call", call_id="a", arguments="{}")
    compat.mark_call(call)
    assert type(call.arguments) is str


def test_hooks_that_do_not_exist_are_named(compat, monkeypatch):
    assert compat.unheard_hooks() == ()
    monkeypatch.setattr(compat, "RunHooks", type("Old", (), {"on_llm_end": None}))
    assert compat.unheard_hooks() == ("on_llm_start",)


def test_the_context_of_a_run_is_that_of_its_result_else_what_a_hook_was_given(compat):
    assert compat.run_context(SimpleNamespace(context_wrapper="its"), "heard") == "its"
    assert compat.run_context(SimpleNamespace(), "heard") == "heard"
    assert compat.run_context(SimpleNamespace(), None) is None


def test_results_of_releases_without_pauses_wait_for_nothing(compat):
    assert compat.interruptions(SimpleNamespace()) == []
    assert compat.interruptions(SimpleNamespace(interruptions=["one"])) == ["one"]


def test_model_settings_say_nothing_on_their_own(compat):
    assert compat.model_settings({}).parallel_tool_calls is None
    assert compat.model_settings({"parallel_tool_calls": False}).parallel_tool_calls is False


def test_nesting_is_always_said_where_it_can_be(compat, monkeypatch):
    assert compat.history_nesting(nested=False) == {"nest_handoff_history": False}
    monkeypatch.setattr(compat, "RunConfig", type("Old", (), {}))
    assert compat.history_nesting(nested=False) == {}


def test_a_stream_is_cancelled_by_either_signature(compat):
    told = []

    class Old:
        def cancel(self):
            told.append("at once")

    class New:
        def cancel(self, mode="immediate"):
            told.append(mode)

    compat.cancel(Old(), "immediate")
    compat.cancel(New(), "after_turn")
    assert told == ["at once", "after_turn"]


def test_traces_go_to_one_processor_where_the_provider_is_a_constant(compat, monkeypatch):
    from agents import tracing
    from agents.tracing import setup

    class Processors(list):
        pass

    class Provider:
        def __init__(self):
            self._multi_processor, self._disabled = Processors(["exporter"]), True

        def set_disabled(self, disabled):
            self._disabled = disabled

        def register_processor(self, processor):
            self._multi_processor.append(processor)

    provider = Provider()
    monkeypatch.delattr(tracing, "set_trace_provider")
    monkeypatch.setattr(setup, "GLOBAL_TRACE_PROVIDER", provider)
    with compat.traces_to("ours"):
        assert (provider._multi_processor, provider._disabled) == (["ours"], False)
    assert (provider._multi_processor, provider._disabled) == (["exporter"], True)


def test_unknown_capabilities_are_missing():
    from agentrunproof.sdk import features

    assert features.missing(["session", "time-travel"]) == ["time-travel"]


def test_no_exporter_is_made_only_to_be_put_aside(compat, monkeypatch):
    from agents.tracing import setup
    from agents.tracing.processor_interface import TracingProcessor

    monkeypatch.setattr(setup, "GLOBAL_TRACE_PROVIDER", None)
    ours = Mock(spec=TracingProcessor)
    with compat.traces_to(ours):
        assert setup.GLOBAL_TRACE_PROVIDER._multi_processor._processors == (ours,)
    assert setup.GLOBAL_TRACE_PROVIDER is None
