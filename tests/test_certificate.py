"""Certificates as JSON: one form, named by its digest."""

from __future__ import annotations

import copy
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrunproof import canonical
from agentrunproof.errors import AgentRunProofError, RecordError
from agentrunproof.plan.model import Agent, Item, LiteralInput, ModelStep, Phase, Plan
from agentrunproof.record import certificate
from agentrunproof.record.certificate import Certificate, Producer, Sdk
from agentrunproof.record.document import id_of
from agentrunproof.record.events import make
from agentrunproof.record.observation import Observation, PhaseRun
from agentrunproof.record.result import OK, CheckResult
from tests.observations import OBSERVATIONS

PLAN = Plan(title="Greets", area="basics", contract="It greets.", start="a",
            agents={"a": Agent()},
            phases=(Phase(id="only", input=LiteralInput(text="Hi"),
                          script={"a": (ModelStep(output=(Item(say="Ho"),)),)}),))
PRODUCER = Producer(version="0.1.0", python="3.13.0", network="audit-hook",
                    sdk=Sdk(version="0.24.0", files="sha256:" + "0" * 64))


def _certificate(seen: Observation) -> Certificate:
    return certificate.build("greets", PLAN, seen, PRODUCER,
                             [CheckResult("tool_linkage", "PASS", OK)], "PASS")


SEEN = Observation((PhaseRun("run", "only", (
    make("run_started", agent="a", input=[{"role": "user", "content": "Hi"}]),
    make("run_finished", outcome="completed"))),))


@given(OBSERVATIONS)
def test_a_certificate_survives_its_file(seen: Observation) -> None:
    made = _certificate(seen)
    data = certificate.to_bytes(made)
    value = canonical.parse(data)
    assert canonical.dumps(value) + b"\n" == data
    assert certificate.from_json(value) == made
    assert value["id"] == id_of(value)


@settings(max_examples=25)
@given(OBSERVATIONS)
def test_the_published_schema_accepts_every_certificate(seen: Observation) -> None:
    VALIDATOR.validate(canonical.parse(certificate.to_bytes(_certificate(seen))))


VALIDATOR = jsonschema.Draft202012Validator(certificate.schema())


def test_the_published_schema_is_a_schema_and_names_every_event_kind() -> None:
    jsonschema.Draft202012Validator.check_schema(certificate.schema())
    broken = certificate.to_json(_certificate(SEEN))
    broken["runs"][0]["events"][0]["kind"] = "run_begun"
    assert not VALIDATOR.is_valid(broken)


@given(st.data())
def test_no_single_byte_can_be_flipped(data: st.DataObject) -> None:
    whole = certificate.to_bytes(_certificate(SEEN))
    at = data.draw(st.integers(0, len(whole) - 2))
    flipped = bytearray(whole)
    flipped[at] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(AgentRunProofError):
        certificate.from_json(canonical.parse(bytes(flipped)))


def _change(value: dict[str, Any], *path: Any, to: Any) -> dict[str, Any]:
    changed = copy.deepcopy(value)
    place: Any = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    if path != ("id",):
        changed["id"] = id_of(changed)
    return changed


@pytest.mark.parametrize(("path", "to", "code"), [
    (("schema",), "agentrunproof/certificate/2", "RECORD_FORMAT"),
    (("id",), "sha256:" + "0" * 64, "RECORD_ID"),
    (("id",), "sha256:" + "0" * 64 + "\n", "RECORD_SHAPE"),
    (("profile",), "secret", "RECORD_SHAPE"),
    (("extra",), 1, "RECORD_SHAPE"),
    (("missing",), [], "RECORD_EXPLICIT_DEFAULT"),
    (("checks", 0, "also"), 0, "RECORD_EXPLICIT_DEFAULT"),
    (("plan", "revision"), 1, "RECORD_EXPLICIT_DEFAULT"),
    (("plan", "revision"), 2, "RECORD_PLAN_DIGEST"),
    (("plan", "start"), 7, "RECORD_SHAPE"),
    (("producer", "python"), "3.13\n", "RECORD_SHAPE"),
    (("verdict",), "pass", "RECORD_SHAPE"),
    (("items",), [], "RECORD_EXPLICIT_DEFAULT"),
    (("items",), [{"role": "user", "content": "Hi"}, {"a": 1}], "RECORD_UNUSED_ITEM"),
])
def test_each_other_form_is_refused_with_its_code(path: tuple[Any, ...], to: Any,
                                                   code: str) -> None:
    value = _change(certificate.to_json(_certificate(SEEN)), *path, to=to)
    with pytest.raises(RecordError) as caught:
        certificate.from_json(value)
    assert caught.value.code == code


@pytest.mark.parametrize("value", [None, [], 3, "x", {}, {"schema": 1}])
def test_something_else_is_told_from_a_certificate(value: Any) -> None:
    with pytest.raises(RecordError) as caught:
        certificate.from_json(value)
    assert caught.value.code == "RECORD_FORMAT"
