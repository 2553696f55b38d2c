"""What somebody with a token, or without one, may try: taking all the room, keeping a cookie, holding connections."""

from __future__ import annotations

import socket
import threading
import time
from http.client import HTTPConnection

import pytest

from utmost.errors import InputError
from utmost.exact.input_text import TOO_LONG_KEY
from utmost.publish import plans
from utmost.studio.forms import Refusal
from utmost.studio.jobs import Jobs
from utmost.studio.middleware import _host_name
from utmost.studio.settings import Limits
from utmost.studio.state import RateLimiter
from utmost.studio.visitors import ANONYMOUS, Sessions

UNFINISHED_HEAD = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: b"  # it goes on
KEY_PARTS = ["a", '"a"', "'a'", r'"\""', " a\t"]


@pytest.mark.parametrize("part", KEY_PARTS)
def test_a_key_of_very_many_parts_is_refused_before_it_is_read(part):
    """tomllib takes time as the square of the number of parts: 36000 of them are half a minute."""
    started = time.monotonic()
    with pytest.raises(InputError, match="at most 100 parts"):
        plans.parse_plan("a" + f".{part}" * 100_000 + " = 1")
    assert time.monotonic() - started < 2


@pytest.mark.parametrize("text", ["a" * 500_000, ". " * 400_000, '."' * 400_000, ('."a' * 99 + "\n") * 2000])
def test_looking_for_such_keys_takes_no_time_itself(text):
    started = time.monotonic()
    TOO_LONG_KEY.search(text)
    assert time.monotonic() - started < 2


def test_one_visitor_leaves_room_for_the_jobs_of_another(tmp_path, monkeypatch):
    monkeypatch.setattr(Jobs, "_run", lambda self, name: None)
    jobs = Jobs(tmp_path, Limits(jobs_per_visitor=3))
    for number in range(3):
        jobs.begin("eve", "Work", "nothing:here", {"number": number}, "/")
    with pytest.raises(Refusal, match="as many jobs as one may"):
        jobs.begin("eve", "Work", "nothing:here", {"number": 3}, "/")
    jobs.begin("bob", "Work", "nothing:here", {"number": 3}, "/")


def test_a_copy_of_a_cookie_is_void_after_the_logout_also_for_the_next_process(tmp_path):
    sessions = Sessions(tmp_path)
    ann, bob = sessions.begin("ann", "curator"), sessions.begin("bob", "consumer")
    cookie = sessions.cookie_value(ann)
    assert sessions.read_cookie(cookie) is not None
    sessions.end(ann)
    for reader in (sessions, Sessions(tmp_path)):
        assert reader.read_cookie(cookie) is None
        assert reader.read_cookie(reader.cookie_value(bob)) is not None
    sessions.end(sessions.begin("", ANONYMOUS))  # whoever has no token leaves no trace
    assert len(list((tmp_path / "ended").iterdir())) == 1


def test_after_a_wrong_token_a_client_waits_however_empty_its_bucket_was():
    rates = RateLimiter(Limits(rate=(10, 1)))
    assert rates.take("192.0.2.1", now=0.0) == 0
    rates.penalize("192.0.2.1", 20)
    assert rates.take("192.0.2.1", now=1.0) > 0
    assert rates.take("192.0.2.1", now=2.2) == 0


@pytest.mark.parametrize("host", ["127.0.0.1#x", "127.0.0.1?x", "127.0.0.1?", "127.0.0.1#"])
def test_a_host_with_more_than_a_name_and_a_port_is_none(host):
    assert _host_name(host) is None


@pytest.fixture
def short_timeout_address(settings):
    """The address of a studio that waits half a second for the head of a request."""
    import uvicorn

    from utmost.studio.server import make_app, timeout_protocol

    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(make_app(settings), http=timeout_protocol(0.5), log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield listener.getsockname()
    server.should_exit = True
    thread.join()
    listener.close()


@pytest.mark.slow
@pytest.mark.parametrize("first_bytes", [b"", UNFINISHED_HEAD])
def test_a_connection_that_does_not_come_to_the_point_is_closed(short_timeout_address, first_bytes):
    with socket.create_connection(short_timeout_address, timeout=20) as client:
        client.sendall(first_bytes)
        assert client.recv(1000) == b""


@pytest.mark.slow
def test_one_that_does_may_be_silent_between_requests_but_not_within_one(short_timeout_address):
    connection = HTTPConnection(*short_timeout_address, timeout=20)
    for _ in range(2):
        connection.request("GET", "/health")
        answer = connection.getresponse()
        assert (answer.status, answer.read()[:10]) == (200, b'{"status":')
        time.sleep(0.7)
    connection.sock.sendall(UNFINISHED_HEAD)
    assert connection.sock.recv(1000) == b""
    connection.close()
