"""`hubbub export --to judgments`: Quepid's CSV and LETOR's lines, read back by their rules."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest
from sklearn.datasets import load_svmlight_file
from tests.browser.made_up import publish

from hubbub.show.export import export

CLICKS = [
    ('köln, "dom"', "http://dom.example/köln", 400, 10.0),
    ('köln, "dom"', "http://b.example", 200, 10.0),
    ('köln, "dom"', "http://c.example", 100, 10.0),
    ("a cathedral", "http://b.example", 60, 10.0),
    ("a cathedral", "http://c.example", 31, 10.0),
    ("faint", "http://c.example", 15, 10.0),
]
RATED = [3, 2, 1, 3, 3]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judgments")
    made = export(publish(folder / "r" / "public", {"clicks": CLICKS}).parent, "judgments", folder / "out")
    assert [file.rows for file in made.files] == [5, 5, 2, 3] and made.files[0].about.endswith("1 row left out")
    return folder / "out"


def test_quepid_reads_the_ratings(exported: Path) -> None:
    with (exported / "quepid.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    expected = zip(CLICKS, RATED, strict=False)
    assert rows == [{"query": q, "docid": u, "rating": str(r)} for (q, u, *_), r in expected]


def named(path: Path) -> dict[str, str]:
    return dict(line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())


def test_letor_s_lines_have_the_queries_together_and_features_in_order(exported: Path) -> None:
    queries, pages = named(exported / "queries.tsv"), named(exported / "documents.tsv")
    rated, groups, values = {}, [], {}
    for line in (exported / "letor.txt").read_text(encoding="utf-8").splitlines():
        data, comment = line.split(" # ")
        rating, qid, *pairs = data.split(" ")
        assert qid.startswith("qid:") and [int(pair.split(":")[0]) for pair in pairs] == [1, 2, 3, 4, 5]
        key = (queries[qid[4:]], pages[comment])
        rated[key], values[key] = int(rating), [float(pair.split(":")[1]) for pair in pairs]
        groups.append(int(qid[4:]))
    assert groups == sorted(groups) == [1, 1, 2, 2, 2]
    assert rated == {(q, u): r for (q, u, *_), r in zip(CLICKS, RATED, strict=False)}
    assert values["a cathedral", "http://b.example"] == pytest.approx([2, 11, 0.5, 16, math.log2(201)], rel=1e-5)


def test_scikit_learn_loads_letor_s_lines(exported: Path) -> None:
    features, ratings, groups = load_svmlight_file(str(exported / "letor.txt"), query_id=True)
    assert features.shape == (5, 5) and groups.tolist() == [1, 1, 2, 2, 2]
    lines = [line.split(" ") for line in (exported / "letor.txt").read_text(encoding="utf-8").splitlines()]
    assert ratings.tolist() == [float(line[0]) for line in lines]
    expected = [[float(pair.split(":")[1]) for pair in line[2:7]] for line in lines]
    assert features.toarray().tolist() == expected


def test_a_feature_does_not_hold_the_number_it_predicts(exported: Path) -> None:
    lines = (exported / "letor.txt").read_text(encoding="utf-8").splitlines()
    only = [line for line in lines if line.startswith("3 qid:2 ")]
    assert [line.split(" ")[6] for line in only] == ["5:0"], "nobody else's clicks: nothing is known of the page"
