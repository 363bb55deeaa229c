"""Words that flag a row: our own topics, and slurs of a public package where it is installed."""

import pytest

from hubbub.public import sensitive


def test_slurs_of_the_package_are_a_topic_and_ours_win() -> None:
    found = sensitive.topics()
    assert found["asshole"] == "slur" and sum(topic == "slur" for topic in found.values()) > 100
    assert found["porn"] == "sex" and found["weapon"] == "crime" and "weather" not in found


@pytest.mark.parametrize("place", [("no-such-package-of-anybody", "words.json"), ("glin-profanity", "moved.json")])
def test_without_the_package_there_are_our_own_topics(place: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sensitive, "SLURS", place)
    assert sensitive.slurs() == {} and "slur" not in sensitive.topics().values()
    assert sensitive.topics()["suicide"] == "self-harm"
