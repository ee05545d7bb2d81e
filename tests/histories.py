"""A small history with its certificates, and a bundle of it, for tests that need some.

Two plans, each with a bug on some releases: a hook at the agent's end that is never called.
``greeting`` has it from the first release on. ``saved`` needs what came with 0.8.0, so the release
before its first bad one lacks that.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from agentrunproof import canonical
from agentrunproof.checker import bundle as bundle_checker
from agentrunproof.checker import history as history_checker
from agentrunproof.checker.bundle import CERTIFICATES
from agentrunproof.checker.judgement import Judgement
from agentrunproof.checker.members import name_of
from agentrunproof.contracts import registry
from agentrunproof.errors import RecordError
from agentrunproof.plan import capabilities
from agentrunproof.record import bundle, history, layout, sdk_releases
from agentrunproof.record import certificate as records
from agentrunproof.record.bundle import MARKER, BundleProducer, Conditions, Environment
from agentrunproof.record.certificate import Certificate, Sdk
from agentrunproof.record.document import id_of
from agentrunproof.record.events import Event
from agentrunproof.record.history import Bug, Side
from agentrunproof.record.lock import Lock, Wheel
from agentrunproof.record.matrix import Column
from agentrunproof.record.observation import Observation, PhaseRun
from agentrunproof.record.sdk_releases import DISTRIBUTION
from tests.plans import greeting

CHECK, CODE = "hook_order", "HOOK_MISSING"
PYTHON = "3.12"
RECORD = "matrix.json"
PLANS = {"greeting": greeting(),
         "saved": dataclasses.replace(greeting(), title="A greeting that could be saved",
                                      requires=("run-state",), upstream=("demo#1", "demo#2"))}

#: first bad, last bad and first fixed release by scenario
BUGS: dict[str, tuple[str, str, str]] = {"greeting": ("0.0.2", "0.0.3", "0.0.4"),
                                         "saved": ("0.8.0", "0.8.0", "0.8.1")}
RELEASES = list(sdk_releases.known())


@cache
def certificate(scenario: str, release: str, *, broken: bool = False, python: str = "3.12.1",
                network: records.Network = "audit-hook+namespace") -> bytes:
    """The file of a certificate as that release would have given it, with the bug or without."""
    driven = _driven(scenario)
    lacking = capabilities.lacking(release)
    missing = tuple(name for name in driven.plan.requires if name in lacking)
    seen = Observation((), missing) if missing else driven.observation.mapped(
        lambda run: PhaseRun(run.mode, run.phase, tuple(
            _events(run.events, broken, "llm-hooks" in lacking))))
    plan, seen = records.as_recorded(driven.plan, seen)
    checks = registry.judge(plan, seen)
    producer = dataclasses.replace(driven.producer, python=python, network=network, sdk=Sdk(
        version=release, files=sdk_releases.known()[release]))
    return records.to_bytes(dataclasses.replace(
        driven, plan=plan, observation=seen, producer=producer, checks=checks,
        verdict=registry.verdict(checks, missing)))


@cache
def _driven(scenario: str) -> Certificate:
    from agentrunproof.api import run_scenario

    made: Certificate = run_scenario((scenario, PLANS[scenario])).certificate
    return made


def _events(events: Iterable[Event], broken: bool, old: bool) -> Iterable[Event]:
    """The events of a release without the hooks around the model, or without one at the end."""
    unheard = ("on_llm_end", "on_llm_start") if old else ()
    dropped = {*unheard, *(["on_agent_end"] if broken else [])}
    for event in events:
        if event["kind"] == "run_started":
            yield event | {"unheard": unheard}
        elif not (event["kind"] == "hook" and event["on"] in dropped):
            yield event


class Story:
    """A history as JSON and its certificates, both open to change.

    Args:
        bugs: as `BUGS`.
        broken: on which releases a scenario really has its bug; by default where `bugs` says so.
    """

    def __init__(self, bugs: Mapping[str, tuple[str, str, str]] = BUGS,
                 broken: Mapping[str, Iterable[str]] | None = None) -> None:
        self.members: dict[str, bytes] = {}
        rows = [self._row(scenario, *releases, tuple((broken or {}).get(scenario, releases[:2])))
                for scenario, releases in bugs.items()]
        self.value = history.FORM.to_json(history.build("0.1.0", PYTHON, rows))

    def _row(self, scenario: str, first_bad: str, last_bad: str, first_fixed: str,
             broken: tuple[str, ...]) -> Bug:
        sides = {"first_bad": first_bad, "last_bad": last_bad, "first_fixed": first_fixed}
        place = RELEASES.index(first_bad)
        if place:
            sides["before"] = RELEASES[place - 1]
        plan = PLANS[scenario]
        return Bug(scenario=scenario, plan=canonical.digest(plan.to_json()), area=plan.area,
                   title=plan.title, check=CHECK, code=CODE, universal=True,
                   upstream=plan.upstream, bug=plan.upstream[0] if plan.upstream else None,
                   **{name: self._side(scenario, sdk, sdk in broken)  # type: ignore[arg-type]
                      for name, sdk in sides.items()})

    def _side(self, scenario: str, sdk: str, broken: bool) -> Side:
        data = certificate(scenario, sdk, broken=broken)
        self.put(scenario, sdk, data)
        found = layout.of_certificate(records.read_envelope(canonical.parse(data)))
        return history.side(sdk, CHECK, found)

    def put(self, scenario: str, sdk: str, data: bytes) -> None:
        """Put a certificate's file in the place of one."""
        self.members[name_of(Column(sdk=sdk, python=PYTHON), scenario)] = data

    def row(self, scenario: str) -> dict[str, Any]:
        found: dict[str, Any] = next(row for row in self.value["rows"]
                                     if row["scenario"] == scenario)
        return found

    def data(self) -> bytes:
        """The history's file, named by what it says now."""
        self.value["id"] = id_of(self.value)
        return canonical.dumps(self.value) + b"\n"

    def judge(self, **options: Any) -> Judgement:
        return history_checker.check(self.data(), self.members, self.members.__getitem__,
                                     **options)


class Bundle:
    """The files of a bundle and the locks of its environments, all open to change."""

    def __init__(self, story: Story | None = None) -> None:
        story = story or Story()
        self.files = {RECORD: story.data(), **{CERTIFICATES + name: data
                                               for name, data in story.members.items()}}
        releases = {name.split("-python-")[0] for name in story.members}
        ordered = sorted(releases, key=RELEASES.index)
        self.locks = {sdk: lock_of(sdk).text().encode() for sdk in ordered}
        self.value = bundle.FORM.to_json(bundle.Bundle(
            producer=BundleProducer(version="0.1.0", commit="0" * 40),
            conditions=Conditions(
                system="linux", machine="x86_64", implementation="cpython", python="3.12.1",
                environments="fresh", network="audit-hook+namespace",
                acquisition="index-before-runs"),
            environments=tuple(Environment(
                sdk=sdk, wheel=lock_of(sdk).sdk.digest, lock=canonical.digest_bytes(lock))
                for sdk, lock in self.locks.items()),
            record=RECORD, members={}))
        self.seal()

    def seal(self) -> None:
        """Name all files that are there by the digests that they have now."""
        self.value["members"] = {name: canonical.digest_bytes(data)
                                 for name, data in self.files.items() if name != MARKER}
        self.mark()

    def mark(self) -> None:
        """Write the marker, named by what it says now."""
        self.value["id"] = id_of(self.value)
        self.files[MARKER] = canonical.dumps(self.value) + b"\n"

    def read_lock(self, sdk: str) -> bytes:
        if sdk not in self.locks:
            raise RecordError("RECORD_NOT_FOUND", f"{sdk}: no such file")
        return self.locks[sdk]

    def judge(self, *, locked: bool = True) -> Judgement:
        return bundle_checker.check(self.files, self.files.__getitem__,
                                    self.read_lock if locked else None)


def lock_of(sdk: str) -> Lock:
    """A lock of two wheels, as none was ever made."""
    return Lock((Wheel("openai", "1.66.2", "sha256:" + "1" * 64),
                 Wheel(DISTRIBUTION, sdk, canonical.digest_bytes(sdk.encode()))))
