"""Tokens of a team: a file with a line `role:name:sha256` for each, never the token itself.

A token is 32 random bytes, so that its plain SHA-256 tells nothing about it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from dataclasses import dataclass
from pathlib import Path

from utmost.errors import InputError
from utmost.studio.sessions import random_token

ROLES = ("curator", "consumer")
NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}")
DIGEST_PATTERN = re.compile(r"[0-9a-f]{64}")
MAX_TOKEN_FILE_BYTES = 1 << 20  # bytes of the file
HOW_TO_MAKE_TOKEN = "make one with utmost serve token NAME --role curator"


@dataclass(frozen=True, slots=True)
class Holder:
    """Whose token has this hash, and what they may do."""

    role: str
    name: str
    digest: str


def read_tokens(path: Path) -> tuple[Holder, ...]:
    """The holders in a file of lines role:name:hash; empty lines and those that start with # are left out."""
    try:
        raw = path.read_bytes()[: MAX_TOKEN_FILE_BYTES + 1]
        lines = raw.decode("ascii").splitlines()
    except OSError as problem:
        raise InputError(
            f"--tokens must be a file that can be read, got {path.name[:60]}: {problem.strerror}; {HOW_TO_MAKE_TOKEN}",
            "tokens",
        ) from None
    except UnicodeDecodeError:
        raise InputError("--tokens must be a text file of lines role:name:hash, got other bytes", "tokens") from None
    if len(raw) > MAX_TOKEN_FILE_BYTES:
        raise InputError(
            f"--tokens must be a file of at most {MAX_TOKEN_FILE_BYTES >> 20} MiB, got a larger one", "tokens"
        )
    return tuple(_holder(k, line.strip()) for k, line in enumerate(lines, 1) if line.strip() and line[0] != "#")


def _holder(number: int, line: str) -> Holder:
    role, _, rest = line.partition(":")
    name, _, digest = rest.partition(":")
    if role not in ROLES or NAME_PATTERN.fullmatch(name) is None or DIGEST_PATTERN.fullmatch(digest) is None:
        raise InputError(
            f"--tokens must have lines role:name:hash, the role curator or consumer, got another in line {number}",
            "tokens",
            HOW_TO_MAKE_TOKEN,
        )
    return Holder(role, name, digest)


def find_holder(token: str, holders: tuple[Holder, ...]) -> Holder | None:
    """Whose token it is. Every hash is compared, each in constant time, whichever it is."""
    digest = hashlib.sha256(token.encode(errors="replace")).hexdigest()
    match = None
    for holder in holders:
        if hmac.compare_digest(holder.digest, digest):
            match = holder
    return match


def token_fingerprint(holder: Holder) -> str:
    """What a session remembers of the token that opened it: enough to see that it was withdrawn."""
    return holder.digest[:16]


def add_token(path: Path, name: str, role: str) -> str:
    """A new token for a name. Its hash is added to the file, which only its owner can read; the token is not kept."""
    if role not in ROLES:
        raise InputError(f'--role must be curator or consumer, got "{role[:40]}"', "role")
    if NAME_PATTERN.fullmatch(name) is None:
        raise InputError(
            "NAME must be letters, digits and _ . @ -, at most 64, got another", "name", "choose a plain one"
        )
    if path.exists() and any(holder.name == name for holder in read_tokens(path)):
        raise InputError(
            f'NAME must be new in {path.name[:60]}, got "{name}"', "name", "take its line out first, or choose another"
        )
    token = random_token()
    line = f"{role}:{name}:{hashlib.sha256(token.encode()).hexdigest()}\n"
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as problem:
        raise InputError(
            f"--tokens must be a file that can be written, got {path.name[:60]}: {problem.strerror}", "tokens"
        ) from None
    with os.fdopen(handle, "ab") as stream:
        stream.write(line.encode())
    return token


class TokenRegister:
    """The holders of a file, read again when it has changed; a file that went bad lets nobody in."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file_version: tuple[int, int] | None = None
        self._holders: tuple[Holder, ...] = ()

    def holders(self) -> tuple[Holder, ...]:
        """Those who hold a token now."""
        try:
            status = self._path.stat()
            file_version = (status.st_mtime_ns, status.st_size)
            if file_version != self._file_version:
                self._holders, self._file_version = read_tokens(self._path), file_version
        except (OSError, InputError):
            self._holders, self._file_version = (), None
        return self._holders

    def find_holder(self, token: str) -> Holder | None:
        """Whose token this is."""
        return find_holder(token, self.holders())

    def is_valid(self, name: str, role: str, fingerprint: str) -> bool:
        """Does the token that opened a session still stand in the file, with the same name and role."""
        return any(
            (holder.name, holder.role, token_fingerprint(holder)) == (name, role, fingerprint)
            for holder in self.holders()
        )
