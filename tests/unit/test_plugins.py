"""What installed packages announce: found when first asked for, refused under a taken name, told about if it fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from hubbub.errors import ParameterError
from hubbub.plugins import PluginWarning, Registry
from hubbub.show.export.base import Format

GROUP = "hubbub.tests"


class Shape(Format):
    """A format that is known already."""

    name, about = "taken", "a format"

    def write(self, source: object, folder: object) -> None:
        raise NotImplementedError

    def notes(self, card: object) -> str:
        raise NotImplementedError


def installed(folder: Path, monkeypatch: pytest.MonkeyPatch, code: str, *points: str) -> None:
    """What an installer leaves behind: a module, and the file that announces it."""
    facts = folder / "hubbub_mine-0.3.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: hubbub-mine\nVersion: 0.3\n")
    module = f"mine_{folder.name.replace('-', '_')}"
    (folder / f"{module}.py").write_text(f"from hubbub.show.export.base import Format\n{code}")
    (facts / "entry_points.txt").write_text(f"[{GROUP}]\n" + "\n".join(p.replace("mod", module, 1) for p in points))
    monkeypatch.syspath_prepend(folder)


def registry() -> Registry[type[Format]]:
    return Registry("format", GROUP, "hubbub.show.export", Format)


def form(name: str) -> str:
    return f"class {name.title()}(Format):\n    name, about = {name!r}, 'mine'\n"


def test_a_package_s_own_is_found_when_first_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = registry()
    installed(tmp_path, monkeypatch, form("mine"), "mine = mod:Mine")
    assert list(found) == ["mine"] and found.named("mine").about == "mine"


@pytest.mark.parametrize(
    ("point", "code", "why"),
    [
        ("broken = mod:Mine", "raise OSError('no disk')", "OSError: no disk"),
        ("broken = mod:Missing", form("broken"), "AttributeError"),
        ("broken = mod:Format.about", "Format.about = 3\n", "is no Format"),
        ("broken = mod:Other", form("other"), "calls itself 'other'"),
    ],
)
def test_a_package_that_fails_is_named_and_stops_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str, code: str, why: str
) -> None:
    monkeypatch.setattr(Format, "about", "", raising=False)
    found = registry()
    found.add(Shape)
    installed(tmp_path, monkeypatch, code, point)
    with pytest.warns(PluginWarning, match=r"'broken' of the package hubbub-mine 0\.3 cannot be used: .*") as told:
        assert list(found) == ["taken"]
    assert why in str(told[0].message)
    with pytest.raises(ParameterError, match="hubbub-mine") as error:
        found.named("broken")
    assert why in str(error.value)
    with pytest.raises(ParameterError, match="There is no such format") as error:
        found.named("nothing")
    assert "allowed: taken" in str(error.value)


def test_a_name_that_exists_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = registry()
    found.add(Shape)
    found.add(Shape)  # the same again is no conflict: a module that registers itself may be announced as well
    installed(tmp_path, monkeypatch, form("taken"), "taken = mod:Taken")
    with pytest.warns(PluginWarning, match="hubbub-mine 0.3 cannot be used: There is a format of this name already"):
        assert found["taken"] is Shape
    with pytest.raises(ParameterError, match="of this name already"), found.added(type("Taken", (Shape,), {})):
        raise AssertionError


def test_what_a_test_adds_is_gone_after_it() -> None:
    found = registry()
    with found.added(Shape):
        assert "taken" in found
    assert "taken" not in found


def test_a_home_that_fails_fails_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a registry must not look like a whole one when it is asked the second time."""
    found = registry()
    with monkeypatch.context() as patch:
        patch.setattr("hubbub.plugins.import_module", lambda name: (_ for _ in ()).throw(ImportError(name)))
        for _ in range(2):
            with pytest.raises(ImportError, match=r"hubbub\.show\.export"):
                list(found)
    assert list(found) == []
