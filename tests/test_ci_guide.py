"""The guide to CI and the example's workflow: what they tell people to type exists."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from agentrunproof import canonical
from agentrunproof.cli.commands import application
from agentrunproof.lab import expected, selection
from agentrunproof.plan.loader import load_file
from agentrunproof.record import matrix as matrices

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "ci_adoption"
GUIDE = (ROOT / "docs" / "ci.md").read_text("utf-8")
WORKFLOW = (EXAMPLE / ".github" / "workflows" / "agents-contract.yml").read_text("utf-8")
README = (EXAMPLE / "README.md").read_text("utf-8")

#: Major versions of the actions, as they are pinned everywhere.
ACTIONS = {"actions/checkout@v5", "actions/upload-artifact@v4", "actions/download-artifact@v4",
           "astral-sh/setup-uv@v6"}


def commands(text: str) -> Iterator[list[str]]:
    """The words of every command line of ours, without what the shell makes of them."""
    if "```" in text:  # of Markdown, what stands in its blocks
        text = "".join(re.findall(r"^ *```\w+\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE))
    for line in re.findall(r"^[ -]*(?:\.job/bin/)?agentrunproof (.*)$", text, re.MULTILINE):
        words = shlex.split(re.split(r" [>|]", line)[0])
        yield [word for word in words if word != "$WITH"]  # options, or nothing


LINES = [*commands(GUIDE), *commands(WORKFLOW), *commands(README)]


def parsed(words: list[str]) -> Any:
    """A command line as the command gets it; nothing is run."""
    group: Any = typer.main.get_command(application())
    return group.commands[words[0]].make_context(words[0], words[1:])


@pytest.mark.parametrize("words", LINES, ids=" ".join)
def test_every_command_line_has_options_that_exist(words: list[str]) -> None:
    context = parsed(words)
    if words[0] in ("matrix", "bisect") and "$" not in context.params["sdk"]:
        assert selection.releases_of(context.params["sdk"])
    if "--" in words:
        assert context.obj == ("pytest", "-q", "tests/test_contract.py")


def test_the_lines_are_found() -> None:
    assert len(LINES) >= 16
    assert {words[0] for words in LINES} == {
        "matrix", "bisect", "merge", "check-matrix", "check-certificate"}


def test_an_option_that_does_not_exist_would_be_noticed() -> None:
    with pytest.raises(typer.BadParameter.__base__):  # type: ignore[arg-type]
        parsed(["matrix", "--cell", "json"])


def test_the_workflow_grants_little_and_pins_its_actions() -> None:
    workflow = yaml.safe_load(WORKFLOW)
    assert workflow["permissions"] == {"contents": "read"}
    assert set(workflow[True]) == {"pull_request", "push", "schedule"}  # YAML 1.1 reads `on` so
    jobs = workflow["jobs"]
    assert (jobs["part"]["needs"], jobs["report"]["needs"]) == ("cells", "part")
    steps = [step for job in jobs.values() for step in job["steps"]]
    assert {step["uses"] for step in steps if "uses" in step} == ACTIONS
    assert all(job["timeout-minutes"] <= 15 for job in jobs.values())
    assert all(step["with"]["persist-credentials"] is False for step in steps
               if step.get("uses", "").startswith("actions/checkout"))
    assert "secrets" not in WORKFLOW
    # Nothing is pasted into a shell: values reach it as variables.
    assert not [step for step in steps if "${{" in step.get("run", "")]


def test_the_parts_are_the_cells_and_the_report_reads_what_they_upload() -> None:
    jobs = yaml.safe_load(WORKFLOW)["jobs"]
    assert jobs["part"]["strategy"]["matrix"] == "${{ fromJSON(needs.cells.outputs.cells) }}"
    used = set(re.findall(r"matrix\.(\w+) \}\}", WORKFLOW))
    assert used == {"sdk", "python", "with"}
    uploads = [step["with"] for step in jobs["part"]["steps"]
               if step.get("uses", "").startswith("actions/upload")]
    assert uploads[0]["path"].split() == ["build/matrix", "build/certificates"]
    (merge,) = [words for words in commands(WORKFLOW) if words[0] == "merge"]
    assert merge[1] == "parts/*/matrix/matrix.json"


def test_other_yaml_in_the_guide_is_yaml() -> None:
    blocks = re.findall(r"^```yaml\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    assert all(yaml.safe_load(block) for block in blocks)


def test_known_failures_of_the_guide_are_of_plans_of_the_example(tmp_path: Path) -> None:
    (block,) = re.findall(r"^```toml\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)
    (tmp_path / "known.toml").write_text(block, "utf-8")
    (known,) = expected.load(tmp_path / "known.toml")
    plans = {load_file(path)[0] for path in (EXAMPLE / "tests" / "contracts").glob("*.toml")}
    assert set(known.scenarios) < plans


def test_the_accepted_matrix_is_of_the_workflows_command() -> None:
    accepted = canonical.parse((EXAMPLE / "tests/contracts/accepted.json").read_bytes())
    (row,) = matrices.from_json(accepted).plans
    (line,) = [words for words in commands(WORKFLOW) if "--" in words]
    assert list(row.command) == line[line.index("--") + 1:]


@pytest.mark.parametrize("page", [ROOT / "docs" / "ci.md", EXAMPLE / "README.md"], ids=str)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text("utf-8")
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)|^\[[^]]+\]: (\S+)", text, re.MULTILINE)
    assert targets
    for target in map("".join, targets):
        assert (page.parent / target).exists(), target
