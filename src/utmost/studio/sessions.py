"""Sessions: a signed cookie that identifies a visitor, and the CSRF token of its forms.

The cookie holds a random number, a name, a role and an end, signed by HMAC-SHA-256 under a key in the state folder; the
CSRF token of a session is the HMAC of its random number under the same key. Of a session nothing is kept on the server
but that it was ended, so both outlive a restart. The cookie's name has the key's fingerprint: two studios on one
machine do not mix theirs up.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
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
