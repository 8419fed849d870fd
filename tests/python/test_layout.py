# SPDX-License-Identifier: BSD-3-Clause
"""The root is found from a wheel, a prefix, Debian's multiarch prefix, and a build tree."""

import pytest
from sumac_mpi.base.errors import Exit, SumacError
from sumac_mpi.library import layout


def place(directory, package, library):
    (directory / package).mkdir(parents=True)
    (directory / library).parent.mkdir(parents=True, exist_ok=True)
    (directory / library).touch()
    return directory / package


@pytest.mark.parametrize(
    ("package", "library", "root"),
    [
        (
            "site-packages/sumac_mpi",
            "site-packages/sumac_mpi/lib/libsumac.so",
            "site-packages/sumac_mpi",
        ),
        ("lib/sumac/python/sumac_mpi", "lib/libsumac.so", ""),
        ("lib/sumac/python/sumac_mpi", "lib/x86_64-linux-gnu/libsumac.so", ""),
        ("lib/sumac/python/sumac_mpi", "lib64/libsumac.so", ""),
    ],
)
def test_root_is_found_from_the_package(monkeypatch, tmp_path, package, library, root):
    monkeypatch.delenv("SUMAC_ROOT", raising=False)
    found = layout.find(place(tmp_path, package, library))
    assert found.root == tmp_path / root
    assert found.library == tmp_path / library
    assert found.parts == (tmp_path / library).parent / "sumac"


def test_a_build_tree_links_to_the_source(monkeypatch, tmp_path):
    monkeypatch.delenv("SUMAC_ROOT", raising=False)
    source = tmp_path / "source/python"
    (source / "sumac_mpi").mkdir(parents=True)
    build = tmp_path / "build"
    (build / "lib/sumac").mkdir(parents=True)
    (build / "lib/libsumac.so").touch()
    (build / "lib/sumac/python").symlink_to(source)
    assert layout.find(build / "lib/sumac/python/sumac_mpi").root == build


def test_the_environment_comes_first(sandbox):
    assert layout.find().root == sandbox.root


def test_without_a_library(monkeypatch, tmp_path):
    monkeypatch.delenv("SUMAC_ROOT", raising=False)
    with pytest.raises(SumacError) as caught:
        layout.find(tmp_path / "a/b/c/d/sumac_mpi")
    assert (caught.value.slug, caught.value.code) == ("no-library", Exit.UNAVAILABLE)


def test_programs_and_back_ends(sandbox):
    sandbox.add_program("bench", "mpich", [])
    found = layout.find()
    assert found.families("bench") == ["mpich"] and found.families("check") == []
    assert found.back_end("mpich") and not found.back_end("openmpi")
