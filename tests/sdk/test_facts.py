"""What a result tells twice is held against itself."""

from types import SimpleNamespace

from agentrunproof.sdk.facts import Streaming, amiss


def _result(**fields):
    entry = SimpleNamespace(input_tokens=10, output_tokens=5, total_tokens=15)
    usage = SimpleNamespace(input_tokens=20, output_tokens=10, total_tokens=30,
                            request_usage_entries=[entry, entry])
    given = {"last_response_id": "r2", "raw_responses": [SimpleNamespace(response_id="r1"),
                                                         SimpleNamespace(response_id="r2")],
             "to_input_list": lambda: [{"role": "user"}], "is_complete": True,
             "final_output": "done", "current_agent": SimpleNamespace(name="clerk"),
             "context_wrapper": SimpleNamespace(usage=usage)}
    return SimpleNamespace(**(given | fields))


def _agent(name):
    return SimpleNamespace(type="agent_updated_stream_event",
                           new_agent=SimpleNamespace(name=name))


def test_a_result_that_agrees_with_itself_has_nothing_amiss():
    assert amiss(_result(), None) == ()
    assert amiss(_result(raw_responses=[], last_response_id=None), None) == ()
    streaming = Streaming(_result())
    streaming.saw(_agent("clerk"))
    assert amiss(_result(), streaming) == ()


def test_each_fact_that_does_not_agree_is_named():
    lists = iter([[{"role": "user"}], []])
    assert amiss(_result(last_response_id="r1"), None) == ("last_response_id",)
    assert amiss(_result(to_input_list=lambda: next(lists)), None) == ("to_input_list",)
    for name in ("input_tokens", "output_tokens", "total_tokens"):
        wrong = _result()
        setattr(wrong.context_wrapper.usage, name, 1)
        assert amiss(wrong, None) == ("request_usage_entries",)


def test_a_stream_is_done_at_its_end_and_has_no_output_before():
    going = _result(is_complete=False, final_output=None)
    streaming = Streaming(going)
    streaming.saw(_agent("clerk"))
    assert amiss(_result(), streaming) == ("is_complete",)
    going.is_complete = True
    assert amiss(_result(), streaming) == ()
    early = Streaming(_result(is_complete=False))
    early.saw(_agent("other"))
    assert early.amiss() == ["final_output", "current_agent", "is_complete"]


def test_what_a_release_does_not_have_is_not_looked_for():
    bare = SimpleNamespace(to_input_list=list, raw_responses=[])
    assert amiss(bare, None) == ()
