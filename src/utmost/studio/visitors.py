"""Visitors: signed session cookies, CSRF tokens, the tokens of a team, and what each role may do.

Sessions: a signed cookie that identifies a visitor, and the CSRF token of its forms.

The cookie holds a random number, a name, a role and an end, signed by HMAC-SHA-256 under a key in the state folder; the
CSRF token of a session is the HMAC of its random number under the same key. Of a session nothing is kept on the server
but that it was ended, so both outlive a restart. The cookie's name has the key's fingerprint: two studios on one
machine do not mix theirs up.

Tokens of a team: a file with a line `role:name:sha256` for each, never the token itself.

A token is 32 random bytes, so that its plain SHA-256 tells nothing about it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from utmost.errors import InputError
from utmost.studio.settings import private_folder

KEY_FILE, ENDED_FOLDER = "key", "ended"
KEY_BYTES = 32
SESSION_HOURS = 12
ANONYMOUS = "anonymous"


@dataclass(frozen=True, slots=True)
class Visitor:
    """A name and a role: curator, consumer, or anonymous before a token was shown.

    `token_fingerprint` is the start of the hash of the token that was shown.
    """

    name: str
    role: str
    session: str
    token_fingerprint: str = ""
    expires: int = 0
    is_new: bool = False  # the browser does not have this session yet
    is_bearer: bool = False  # shown by a header that no browser sends by itself


def random_bytes(count: int) -> bytes:
    """So many bytes of the operating system's entropy, from its one source."""
    from utmost.noise.entropy import system_source

    return system_source().words(-(-count // 8)).tobytes()[:count]


def random_token() -> str:
    """A secret token: 32 random bytes in URL-safe letters."""
    return base64.urlsafe_b64encode(random_bytes(32)).decode().rstrip("=")


class Sessions:
    """Signs and reads cookies with the key of a state folder, made there when it is first needed."""

    def __init__(self, state_folder: Path) -> None:
        self._key, self._ended_folder = (
            _read_or_make_key(private_folder(state_folder) / KEY_FILE),
            private_folder(state_folder / ENDED_FOLDER),
        )
        self.cookie_name = f"utmost-{hashlib.sha256(self._key).hexdigest()[:8]}"

    def begin(self, name: str, role: str, token_fingerprint: str = "") -> Visitor:
        """A new session for this name."""
        return Visitor(
            name, role, random_token(), token_fingerprint, int(time.time()) + SESSION_HOURS * 3600, is_new=True
        )

    def cookie_value(self, visitor: Visitor) -> str:
        """The cookie's value."""
        fields = [visitor.session, visitor.name, visitor.role, visitor.token_fingerprint, visitor.expires]
        body = base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")
        return f"{body}.{self._signature('session', body)}"

    def read_cookie(self, value: str) -> Visitor | None:
        """The visitor whose cookie this is; None if it is not ours or is over."""
        body, _, signature = value[:2000].partition(".")
        if not hmac.compare_digest(self._signature("session", body).encode(), signature.encode(errors="replace")):
            return None
        session, name, role, token_fingerprint, expires = json.loads(
            base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
        )
        visitor = Visitor(name, role, session, token_fingerprint, expires)
        return visitor if time.time() < expires and not self._ended_path(session).exists() else None

    def end(self, visitor: Visitor) -> None:
        """No copy of this visitor's cookie is valid from now on; an anonymous visitor's gave no rights before."""
        if visitor.role == ANONYMOUS or not visitor.session:
            return
        for path in self._ended_folder.iterdir():
            if path.stat().st_mtime + SESSION_HOURS * 3600 < time.time():
                path.unlink(missing_ok=True)
        self._ended_path(visitor.session).touch(mode=0o600)

    def _ended_path(self, session: str) -> Path:
        return self._ended_folder / self._signature("ended", session)

    def csrf_token(self, visitor: Visitor) -> str:
        """What each form of this visitor's pages carries; nothing where there is no session."""
        return self._signature("csrf", visitor.session) if visitor.session else ""

    def is_csrf_token(self, visitor: Visitor, token: str) -> bool:
        """Whether it is this visitor's token, compared in constant time."""
        token_bytes = token.encode(errors="replace")
        return bool(visitor.session) and hmac.compare_digest(self.csrf_token(visitor).encode(), token_bytes)

    def _signature(self, use: str, text: str) -> str:
        return hmac.new(self._key, f"{use}:{text}".encode(errors="replace"), "sha256").hexdigest()


def _read_or_make_key(path: Path) -> bytes:
    """The key in the file; made by whoever comes first. A key that is not whole would sign nothing: it is refused."""
    if not path.exists():
        _make_key(path)
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise InputError(
            f"key of the studio must have {KEY_BYTES} bytes, got {len(key)}",
            "key",
            f"remove the file {path.name} from the state folder, and everybody signs in again",
        )
    return key


def _make_key(path: Path) -> None:
    """A new key under its name at once, or not at all: nobody reads half of one, and none that is there is replaced."""
    handle, temporary_name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # for its owner alone
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(random_bytes(KEY_BYTES))
            stream.flush()
            os.fsync(stream.fileno())
        with suppress(FileExistsError):
            os.link(temporary_name, path)
        _sync_folder(path.parent)
    except OSError as problem:
        raise InputError(
            f"state folder must be on a disk with room and hard links, got {problem.strerror}",
            hint="set XDG_STATE_HOME",
        ) from None
    finally:
        os.unlink(temporary_name)


def _sync_folder(folder: Path) -> None:
    """Write a folder's new names to the disk, where that is possible."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


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


OPEN_ROOTS = ("/static", "/vega", "/health", "/login", "/logout", "/favicon.ico")
CONSUMER_ROOTS = ("/consumer", "/designer", "/precision", "/papers", "/jobs", "/reference")
CONSUMER_PATHS = ("/", "/openapi.json", "/api/home", "/api/session")


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """An entry of the navigation."""

    path: str
    name: str


NAVIGATION = (
    NavigationEntry("/curator", "Curator"),
    NavigationEntry("/consumer", "Consumer"),
    NavigationEntry("/designer", "Designer"),
    NavigationEntry("/precision", "Precision"),
    NavigationEntry("/papers", "Papers"),
    NavigationEntry("/jobs", "Jobs"),
    NavigationEntry("/reference", "API"),
)


def is_open_to_all(path: str) -> bool:
    """May a visitor without a token come here.

    >>> is_open_to_all("/static/studio.css"), is_open_to_all("/staticfiles"), is_open_to_all("/")
    (True, False, False)
    """
    return any(_is_under(path, root) for root in OPEN_ROOTS)


def is_allowed(visitor: Visitor, path: str) -> bool:
    """May this visitor come here: the consumer reaches releases and what needs no data, the curator everything.

    >>> ann = Visitor("ann", "consumer", "")
    >>> is_allowed(ann, "/api/consumer/releases"), is_allowed(ann, "/api/curator"), is_allowed(ann, "/metrics")
    (True, False, False)
    """
    if is_open_to_all(path) or visitor.role == "curator":
        return True
    if visitor.role == ANONYMOUS:
        return False
    return path in CONSUMER_PATHS or any(_is_under(path.removeprefix("/api"), root) for root in CONSUMER_ROOTS)


def navigation(visitor: Visitor) -> tuple[NavigationEntry, ...]:
    """The navigation that this visitor sees."""
    return tuple(entry for entry in NAVIGATION if visitor.role != ANONYMOUS and is_allowed(visitor, entry.path))


def _is_under(path: str, root: str) -> bool:
    return path == root or path.startswith(f"{root}/")
