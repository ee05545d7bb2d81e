"""Secrets are found by their shape, their key, their place in a URL; ordinary words are not."""

from __future__ import annotations

import json

import pytest

from agentrunproof.recorders.secrets import Scrubber, scrub

DIGITS = "a1B2c3D4" * 8


@pytest.mark.parametrize("secret", [
    "sk-proj-" + DIGITS, "sk-ant-api03-" + DIGITS, "ghp_" + DIGITS, "github_pat_" + DIGITS,
    "glpat-" + DIGITS, "AKIA" + "A2B3" * 4, "AIza" + DIGITS[:35], "xoxb-1234567890-abc",
    "hf_" + DIGITS, "npm_" + DIGITS[:36], "pypi-" + DIGITS, "sk_live_" + DIGITS,
    "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM" + "." + DIGITS[:20], "ya29." + DIGITS])
@pytest.mark.parametrize("around", ["{}", "my key is {}.", '{{"x": "{}"}}', "\n{}\n", "a={}&b",
                                    "https://x.y/{}/z"])
def test_known_shapes_are_taken_out_wherever_they_stand(secret: str, around: str) -> None:
    scrubbed = scrub(around.format(secret))
    assert secret not in scrubbed
    assert secret[-12:] not in scrubbed
    assert "[secret" in scrubbed


@pytest.mark.parametrize(("text", "secret"), [
    ("Authorization: Bearer abcDEF123456abcDEF", "abcDEF123456abcDEF"),
    ("authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA"),
    ("https://user:hunter2@host/x", "hunter2"), ("postgres://u:p4ss@db:5432/x", "p4ss"),
    ("https://h/?a=1&api_key=zzz9&b=2", "zzz9"), ("https://h/?access_token=zzz9", "zzz9"),
    ("https://h/?sig=zzz9", "zzz9"), ("password=hunter22", "hunter22"),
    ("DB_PASSWORD: hunter22", "hunter22"), (json.dumps({"password": "correct horse"}), "correct"),
    (json.dumps(json.dumps({"client_secret": "correcthorse"})), "correcthorse"),
    ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----", "abc")])
def test_secrets_are_known_by_their_place(text: str, secret: str) -> None:
    assert secret not in scrub(text)


@pytest.mark.parametrize("text", [
    "Please reset your password: please call us.", "Basic understanding of things and so on",
    "the bearer of good news", "token: the smallest unit of text", "sk-8 is a road", "a=b&c=d",
    "https://example.com/?page=2&sort=asc", "The key: patience.", "skip-this-and-that-please",
    "eyJ is how JSON begins in base64", "password: ", "AKIA", "https://host:8080/a@b",
    "Order B-1234 was refunded, reference QX12345.", "risk-assessment-of-the-whole-project"])
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert scrub(text) == text


def test_scrubbing_twice_changes_nothing_more() -> None:
    once = scrub(f"Authorization: Bearer {DIGITS} password=hunter22 https://u:p4@h/?key=z&x=1")
    assert scrub(once) == once


def test_keys_that_say_so_hide_their_values_and_others_do_not() -> None:
    failures: list[Exception] = []
    scrubber = Scrubber(None, failures.append)
    value = {"headers": {"Authorization": "x y z", "X-Api-Key": "k"}, "password": "p",
             "max_tokens": 5, "token_count": "7", "secret_key": 7, "items": ["a", None, 1.5, True]}
    assert scrubber(value) == {
        "headers": {"Authorization": "[secret: authorization]", "X-Api-Key": "[secret: x-api-key]"},
        "password": "[secret: password]", "max_tokens": 5, "token_count": "7", "secret_key": 7,
        "items": ["a", None, 1.5, True]}
    assert failures == []
