"""No path outside the folder, by any name."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import InputError
from utmost.studio import data_folder


@pytest.fixture
def folder(settings):
    (settings.folder / "people.csv").write_text("a\n1\n")
    (settings.folder / "sub").mkdir()
    (settings.folder / "sub" / "deep.csv").write_text("a\n1\n")
    (settings.folder / ".hidden.csv").write_text("a\n1\n")
    (settings.folder / "notes.txt").write_text("a")
    (settings.folder.parent / "secret.csv").write_text("a\n1\n")
    (settings.folder / "out.csv").symlink_to(settings.folder.parent / "secret.csv")
    (settings.folder / "way").symlink_to(settings.folder.parent)
    (settings.folder / "alias.csv").symlink_to(settings.folder / "people.csv")
    (settings.folder / "sly.csv").symlink_to(settings.folder / "notes.txt")
    return settings.folder


def test_files_of_the_folder_are_found(folder):
    assert data_folder.path_in_folder(folder, "people.csv").name == "people.csv"
    assert data_folder.path_in_folder(folder, "sub/deep.csv").name == "deep.csv"
    assert data_folder.path_in_folder(folder, "alias.csv") == data_folder.path_in_folder(folder, "people.csv")
    assert data_folder.list_files(folder, data_folder.TABLE_SUFFIXES) == ["alias.csv", "people.csv"]


@pytest.mark.parametrize(
    "name",
    [
        "../secret.csv",
        "sub/../../secret.csv",
        "sub/../people.csv",
        "/etc/passwd",
        "out.csv",
        "way/secret.csv",
        "sly.csv",
        ".hidden.csv",
        "notes.txt",
        "people.csv\0",
        "people.csv\n",
        "..\\secret.csv",
        "~/people.csv",
        "",
        ".",
        "sub",
        "missing.csv",
        "x" * 300 + ".csv",
    ],
)
def test_a_name_that_leads_out_or_is_of_another_kind_is_refused_alike(folder, name):
    with pytest.raises(InputError) as caught:
        data_folder.path_in_folder(folder, name)
    assert str(caught.value).startswith("file must be one of the studio's folder")
    assert name not in str(caught.value) or len(name) < 4


@given(st.text(max_size=40), st.sampled_from(["", "../", "/", "./", "sub/../", "way/"]))
def test_whatever_the_name_the_file_lies_inside(folder_with_link, text, prefix):
    try:
        path = data_folder.path_in_folder(folder_with_link, f"{prefix}{text}.csv")
    except InputError:
        return
    assert path.is_relative_to(folder_with_link.resolve())


@pytest.fixture(scope="module")
def folder_with_link(tmp_path_factory):
    folder = tmp_path_factory.mktemp("root")
    (folder / "people.csv").write_text("a\n")
    (folder.parent / "secret.csv").write_text("a\n")
    (folder / "way").symlink_to(folder.parent)
    return folder


def test_releases_are_those_of_the_releases_folder_and_for_one_visitor_those_beside_it(settings):
    settings.releases.mkdir()
    (settings.releases / "a.release.json").write_text("{}")
    (settings.folder / "b.release.json").write_text("{}")
    (settings.folder / "c.json").write_text("{}")
    (settings.releases / "out.release.json").symlink_to(settings.folder / "b.release.json")
    os.utime(settings.releases / "a.release.json", (0, 0))
    assert [release.file for release in data_folder.list_releases(settings)] == ["b.release.json", "a.release.json"]
    team = replace(settings, tokens=settings.folder / "tokens")
    assert [release.file for release in data_folder.list_releases(team)] == ["a.release.json"]
    with pytest.raises(InputError):
        data_folder.release_path(team, "b.release.json")
    with pytest.raises(InputError):
        data_folder.release_path(team, "../b.release.json")


@pytest.mark.parametrize("path", ["/static/../settings.py", "/static/%2e%2e/settings.py", "/static//etc/passwd"])
def test_static_files_are_the_packages_own(studio, path):
    assert studio.get(path).status_code == 404
