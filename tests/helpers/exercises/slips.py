"""What every test of a slip asks of a check."""

from typing import Any

from helpers.exercises import check


def refused(name: str, wrong: Any, hint: str) -> bool:
    """The answer is not accepted, and the feedback names the slip in both languages."""
    feedback = check(name, wrong)
    assert hint in feedback.en, feedback.en
    assert feedback.ko != feedback.en
    return not feedback.ok
