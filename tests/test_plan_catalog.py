"""The packaged scenarios: their index, their files, and what they cover."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from agentrunproof import canonical
from agentrunproof.errors import PlanError
from agentrunproof.plan import catalog
from agentrunproof.plan.capabilities import CAPABILITIES, SINCE, lacking, needed
from agentrunproof.plan.loader import tomllib
from agentrunproof.plan.schema import plan_schema
from tests.test_plan_capabilities import USES

ROOT = Path(__file__).parent.parent
FIXED = {"basic-tool-session-parity", "runstate-sibling-approval-isolation",
         "runstate-recursive-agent-tool-approval-routing",
         "runstate-recursive-agent-tool-approval-serialization"}


def test_the_index_is_what_the_plan_files_say() -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts" / "update_catalog.py", "--check"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_plan_file_is_in_the_index_and_the_other_way_round() -> None:
    files = {path.stem for path in catalog.folder().glob("*/*.toml")}
    assert files == set(catalog.ids())
    assert files >= FIXED
    assert list(catalog.ids()) == sorted(
        catalog.ids(), key=lambda id: (catalog.summaries()[id].area, id))


@pytest.mark.parametrize("id", catalog.ids())
def test_a_packaged_plan_says_what_it_promises_why_and_where(id: str) -> None:
    plan = catalog.load(id)
    assert plan.why
    assert plan.docs
    assert all(link.startswith("https://openai.github.io/openai-agents-python/")
               for link in plan.docs)
    digest = canonical.digest(plan.to_json())
    assert catalog.known_digest(id, plan.revision) == digest
    assert catalog.id_of(digest) == id


@pytest.mark.parametrize("id", catalog.ids())
def test_a_packaged_plan_fits_the_published_schema(id: str) -> None:
    document = tomllib.loads(catalog.path(id).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(plan_schema()).validate(document)


def test_the_published_schema_is_a_schema_that_refers_to_nothing_missing() -> None:
    schema = plan_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    referred = set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(schema)))
    assert referred == set(schema["$defs"])


def test_every_capability_is_used_by_a_packaged_plan_or_shown_to_follow_from_one() -> None:
    used = {name for id in catalog.ids() for name in needed(catalog.load(id))}
    assert used | set(USES) | {"lenient-output", "mcp-context"} == set(CAPABILITIES)


def test_unknown_ids_get_the_nearest_suggested() -> None:
    with pytest.raises(PlanError) as caught:
        catalog.load("basic-tool-sesion-parity")
    assert caught.value.code == "CATALOG_UNKNOWN"
    assert "'basic-tool-session-parity'" in caught.value.hint
    assert catalog.known_digest("no-such-scenario", 1) is None
    assert catalog.known_digest("basic-tool-session-parity", 99) is None
    assert catalog.id_of("sha256:" + "0" * 64) is None


def test_listing_reads_no_plan_and_imports_no_toml_parser_and_no_sdk() -> None:
    code = ("import sys\nfrom agentrunproof.plan import catalog\ncatalog.summaries()\n"
            "print([m for m in ('tomllib', 'tomli', 'agents', 'jsonschema', 'asyncio') "
            "if m in sys.modules])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.sdk
def test_the_sdk_side_probes_the_capabilities_that_plans_can_need() -> None:
    from agentrunproof.sdk import compat, features

    assert set(features.PROBES) == set(CAPABILITIES) == set(SINCE)
    assert set(features.missing(sorted(CAPABILITIES))) == lacking(compat.sdk_version())
