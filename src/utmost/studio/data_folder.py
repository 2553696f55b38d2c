"""Files of the studio's folder, and no others: known endings, no way out by .. or by a link."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, Field

from utmost.data.engines import registry
from utmost.data.lookup import LOOKUP_SUFFIXES
from utmost.errors import InputError
from utmost.studio.settings import PUBLIC_FOLDER, Settings

TABLE_SUFFIXES = tuple(suffix for kind in registry.ENGINES[0].kinds for suffix in kind.suffixes)
KNOWN_SUFFIXES = (*TABLE_SUFFIXES, ".toml", ".json")
RELEASE_SUFFIX = ".release.json"
MAX_NAME_CHARS = 255
MAX_LISTED_FILES = 1000  # files of one kind that are listed


class ReleaseFile(BaseModel):
    """A release that can be opened."""

    file: str = Field(examples=["survey.release.json"])
    written: str = Field(examples=["2024-05-01T12:00:00Z"])
    bytes: int


def path_in_folder(folder: Path, name: str, suffixes: tuple[str, ...] = KNOWN_SUFFIXES) -> Path:
    """The file of this name in the folder, or below it. It exists, and lies there once every link is followed.

    Refused alike, whether another file exists or not: absolute names, .., links that lead out, hidden files, other
    endings.
    """
    relative = Path(name)
    parts = relative.parts
    is_plain = (
        0 < len(name) <= MAX_NAME_CHARS and name.isprintable() and "\\" not in name and not relative.is_absolute()
    )
    if is_plain and parts and not any(part.startswith(".") for part in parts) and name.lower().endswith(suffixes):
        root, path = folder.resolve(), (folder / relative).resolve()
        if path.is_relative_to(root) and path.is_file() and path.name.lower().endswith(suffixes):
            return path
    raise InputError(
        f"file must be one of the studio's folder that ends in {', '.join(suffixes)}, got another",
        "file",
        "see its list",
    )


def list_files(folder: Path, suffixes: tuple[str, ...]) -> list[str]:
    """The names of the folder's own files with these endings, in order; links that lead out are left out."""
    if not folder.is_dir():
        return []
    names = sorted(path.name for path in folder.iterdir() if path.name.lower().endswith(suffixes))
    return [name for name in names[:MAX_LISTED_FILES] if _is_inside(folder, name, suffixes)]


def _is_inside(folder: Path, name: str, suffixes: tuple[str, ...]) -> bool:
    try:
        path_in_folder(folder, name, suffixes)
    except InputError:
        return False
    return True


def list_tables(settings: Settings) -> list[str]:
    """The tables in the folder."""
    return list_files(settings.folder, TABLE_SUFFIXES)


def list_public_tables(settings: Settings) -> list[str]:
    """The tables that columns may be looked up in; for a single visitor, who owns them, those beside the plans too."""
    beside = list_files(settings.folder, LOOKUP_SUFFIXES) if settings.tokens is None else []
    return [*(f"{PUBLIC_FOLDER}/{name}" for name in list_files(settings.public, LOOKUP_SUFFIXES)), *beside]


def public_table_path(settings: Settings, name: str) -> Path:
    """The file of a table that columns may be looked up in.

    A lookup tells the table's values without noise. So in a team only what lies in the folder of public tables is one,
    once every link is followed: a private table of the folder is refused like a file that does not exist.
    """
    folder, inner_name = settings.folder, name.removeprefix(f"{PUBLIC_FOLDER}/")
    is_public = inner_name != name and _is_inside(settings.public, inner_name, LOOKUP_SUFFIXES)
    if (is_public or settings.tokens is None) and _is_inside(folder, name, LOOKUP_SUFFIXES):
        return path_in_folder(folder, name, LOOKUP_SUFFIXES)
    place = "studio's folder" if settings.tokens is None else f"folder {PUBLIC_FOLDER} of the studio's"
    raise InputError(f"location must be a CSV or Parquet file in the {place}, got another", "location", "see its list")


def list_releases(settings: Settings) -> list[ReleaseFile]:
    """All releases that may be read here, the latest first."""
    releases: dict[str, ReleaseFile] = {}
    for folder in settings.release_folders:
        for name in list_files(folder, (RELEASE_SUFFIX,)):
            releases.setdefault(name, _release_file(folder / name))
    return sorted(releases.values(), key=lambda release: (release.written, release.file), reverse=True)


def release_path(settings: Settings, name: str) -> Path:
    """The file of a release that `list_releases` lists."""
    for folder in settings.release_folders:
        if "/" not in name and folder.is_dir() and _is_inside(folder, name, (RELEASE_SUFFIX,)):
            return path_in_folder(folder, name, (RELEASE_SUFFIX,))
    raise InputError("release must be one of those listed, got another", "release", "see the list of releases")


def _release_file(path: Path) -> ReleaseFile:
    status = path.stat()
    modified = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return ReleaseFile(file=path.name, written=modified, bytes=status.st_size)
