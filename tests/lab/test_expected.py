from __future__ import annotations

from pathlib import Path

import pytest

from agentrunproof.errors import AgentRunProofError
from agentrunproof.lab import expected
from agentrunproof.lab.expected import KnownFailure
from agentrunproof.plan import catalog
from tests.matrices import history

KNOWN = KnownFailure(scenarios=("greeting",), check="tool_linkage", sdk=">=0.2,<0.4",
                     upstream="openai-agents-python#1", code="F")


def marks(letters: str, *known: KnownFailure) -> str:
    made = history(letters)
    return "".join("x" if expected.is_expected(known, "greeting", cell, column) else "."
                   for column, cell in zip(made.columns, made.plans[0].cells, strict=True))


def test_a_failure_is_expected_where_all_failed_checks_are_known() -> None:
    assert marks("FFFFF", KNOWN) == "..xx."
    assert marks("GGGG", KNOWN) == "...."
    assert marks("pp-?p", KNOWN) == "....."
    assert marks("FF") == ".."


@pytest.mark.parametrize(("letters", "stale"), [
    ("ppFFp", []), ("ppFpp", ["0.3.0"]), ("ppppp", ["0.2.0"]), ("pp-?a", []), ("pp", []),
])
def test_an_entry_is_stale_where_its_check_passes_on_a_release_that_it_covers(
        letters: str, stale: list[str]) -> None:
    found = list(expected.stale((KNOWN,), history(letters)))
    assert [one.column.sdk for one in found] == stale
    assert all("tool_linkage of greeting" in str(one) for one in found)


def test_an_entry_of_a_plan_that_was_not_run_is_not_stale() -> None:
    other = KnownFailure(scenarios=("other",), check="tool_linkage", sdk=">=0.1",
                         upstream="x#1")
    assert list(expected.stale((other,), history("ppp"))) == []


def test_the_packaged_list_names_scenarios_and_checks_that_exist() -> None:
    from agentrunproof.contracts import registry

    for known in expected.load():
        assert set(known.scenarios) <= set(catalog.ids())
        contract = registry.find(known.check)
        assert contract is not None
        assert known.code is None or known.code in contract.codes


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text('[[failure]]\nscenarios = ["greeting"]\ncheck = "tool_linkage"\n'
                    'sdk = ">=0.2,<0.4"\nupstream = "openai-agents-python#1"\ncode = "F"\n')
    assert expected.load(path) == (KNOWN,)


@pytest.mark.parametrize(("content", "code"), [
    ("[[failure]]\nscenarios = 3\n", "KNOWN_FAILURES"),
    ('[[failure]]\nscenarios = []\ncheck = "b"\nsdk = ">=1"\nnote = "x"\n', "KNOWN_FAILURES"),
    ('[[failure]]\nscenarios = ["a"]\ncheck = "b"\nsdk = ">=1"\n', "KNOWN_FAILURES"),
    ('[[failure]]\nscenarios = ["a"]\ncheck = "b"\nsdk = ">=1"\nupstream = "somewhere"\n',
     "KNOWN_FAILURES"),
    ('[[failure]]\nscenarios = ["a"]\ncheck = "b"\nsdk = "new"\nupstream = "x#1"\n',
     "RELEASE_SYNTAX"),
    ("[[failures]]\n", "KNOWN_FAILURES"),
    ("failure = [", "PLAN_TOML"),
])
def test_a_list_that_makes_no_sense_is_refused(tmp_path: Path, content: str, code: str) -> None:
    path = tmp_path / "known.toml"
    path.write_text(content)
    with pytest.raises(AgentRunProofError) as caught:
        expected.load(path)
    assert caught.value.code == code
