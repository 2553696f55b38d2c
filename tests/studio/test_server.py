"""The commands that serve: as processes of their own."""

from __future__ import annotations

import json
import signal
import socket
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from studio_server import MAX_WAIT_SECONDS, run_server
from utmost.cli import run
from utmost.studio import settings, visitors


@pytest.mark.slow
def test_the_studio_serves_this_machine_and_ends_calmly(tmp_path):
    with run_server("studio", tmp_path, "--port", "0", "--no-browser", cwd=tmp_path) as (process, address):
        assert address.startswith("http://127.0.0.1:")
        with urlopen(address, timeout=MAX_WAIT_SECONDS) as answer:
            assert b"Privacy, spent knowingly" in answer.read()
        process.send_signal(signal.SIGTERM)
        assert process.wait(MAX_WAIT_SECONDS) == 0
        assert process.stderr.read() == ""


@pytest.mark.slow
def test_the_studio_takes_a_free_port_where_its_own_is_taken(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with run_server("studio", tmp_path, "--port", port, "--no-browser", cwd=tmp_path) as (process, address):
            assert f":{port}/" not in address
            process.send_signal(signal.SIGINT)
            assert process.wait(MAX_WAIT_SECONDS) == 0
            assert process.stderr.read() == ""


def test_a_team_does_not_move_to_another_port(tmp_path, monkeypatch, capsys):
    visitors.add_token(tmp_path / "tokens.txt", "ann", "curator")
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        assert run(["serve", "--ledger", "l.sqlite", "--tokens", "tokens.txt", "--port", port]) == 2
    assert f"--port must be free on 127.0.0.1, got {port}" in capsys.readouterr().err


@pytest.mark.slow
def test_a_team_is_served_with_tokens(tmp_path):
    token = visitors.add_token(tmp_path / "tokens.txt", "ann", "curator")
    arguments = ("serve", "--ledger", "ledger.sqlite", "--tokens", "tokens.txt", "--folder", tmp_path, "--port", "0")
    with run_server(*arguments, cwd=tmp_path) as (process, address):
        with pytest.raises(HTTPError, match="401"):
            urlopen(f"{address}api/home", timeout=MAX_WAIT_SECONDS)
        request = Request(f"{address}api/home", headers={"Authorization": f"Bearer {token}"})
        with urlopen(request, timeout=MAX_WAIT_SECONDS) as answer:
            assert json.load(answer)["name"] == "ann"
        process.send_signal(signal.SIGTERM)
        assert process.wait(MAX_WAIT_SECONDS) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("studio", "nowhere"), "FOLDER must be a folder that exists"),
        (("studio", "--port", "70000"), "--port must be from 0 to 65535"),
        (("serve",), "--ledger must be given"),
        (("serve", "--ledger", "x.sqlite"), "--tokens must be given"),
        (("serve", "--ledger", "x.sqlite", "--tokens", "none.txt"), "--tokens must be a file that can be read"),
        (("serve", "token", "ann", "--role", "root", "--tokens", "t.txt"), "--role must be curator or consumer"),
        (("serve", "token", "ann", "--role", "curator"), "--tokens must be given"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_line(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    error_output = capsys.readouterr().err
    assert message in error_output
    assert error_output.count("\n") == 1


def test_a_missing_extra_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert run(["studio", str(tmp_path)]) == 2
    assert "pip install 'utmost[studio]'" in capsys.readouterr().err


def test_a_team_may_be_called_by_its_address_and_the_names_given(tmp_path):
    team_settings = settings.team_settings(
        tmp_path, ledger="l", tokens=tmp_path / "t", host="0.0.0.0", port=1, names=("Studio.Example",)
    )
    assert team_settings.hosts == (*settings.LOOPBACK, "studio.example")
    assert not settings.local_settings(tmp_path).state_folder.is_relative_to(tmp_path)
