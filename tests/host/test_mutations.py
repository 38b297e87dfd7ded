"""The mutations follow the code: each text that one replaces is there, once. Trying them is scripts/mutations.py's."""

import tomllib

import pytest

from conftest import ROOT

MUTATIONS = [
    mutation
    for path in sorted((ROOT / "tests" / "mutations").glob("*.toml"))
    for mutation in tomllib.loads(path.read_text(encoding="utf-8"))["mutation"]
]


def test_there_are_mutations_each_with_a_name_of_its_own():
    names = [mutation["name"] for mutation in MUTATIONS]
    assert len(names) > 100
    assert len(names) == len(set(names))


@pytest.mark.parametrize("file", sorted({mutation["file"] for mutation in MUTATIONS}))
def test_a_mutation_s_text_is_there_once(file: str):
    text = (ROOT / file).read_text(encoding="utf-8")
    for mutation in MUTATIONS:
        if mutation["file"] == file:
            assert text.count(mutation["old"]) == 1, mutation["name"]
            assert mutation["new"] != mutation["old"] and mutation["tests"], mutation["name"]
