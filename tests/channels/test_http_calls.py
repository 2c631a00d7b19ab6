"""One request, one answer: what is read of it, and when a call may say that nothing has left."""

import datetime as dt
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.utils import format_datetime

import pytest

from conflicts.destinations import NotAccepted, NotSent
from conflicts.jobs import PutOff
from crm.channels import http
from crm.channels.http import Answer

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def read_request(line: socket.socket) -> None:
    with line.makefile("rb") as asked:
        length = 0
        while (header := asked.readline()).strip():
            name, _, value = header.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        asked.read(length)


@contextmanager
def server(speak: Callable[[socket.socket], None]) -> Iterator[str]:
    """Takes one connection, reads the whole request and lets the test speak.

    The whole: a line that is closed with bytes unread is reset, and may take the answer with it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def run() -> None:
            try:
                line, _ = listening.accept()
                with line:
                    read_request(line)
                    speak(line)
            except OSError:
                pass  # whoever asked has gone

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    thread.join(10)


def says(raw: bytes) -> Callable[[socket.socket], None]:
    return lambda line: line.sendall(raw)


def call(url: str) -> Answer:
    return http.post_json(url, {"a": "é"}, headers={})


@pytest.mark.parametrize(
    ("raw", "body"),
    [
        (HEAD + b'Content-Length: 8\r\n\r\n{"a": 1}', {"a": 1}),
        (HEAD + b'Transfer-Encoding: chunked\r\n\r\n4\r\n{"a"\r\n4\r\n: 1}\r\n0\r\n\r\n', {"a": 1}),
        (HEAD + b"Content-Length: 6\r\n\r\n<html>", {}),
        (HEAD + b"Content-Length: 3\r\n\r\n[1]", {}),
        (HEAD + b"Content-Length: 2\r\n\r\n\xff\xfe", {}),
        (HEAD + b"Content-Length: 0\r\n\r\n", {}),
        (b"HTTP/1.1 200 OK\r\nContent-Le", {}),  # cut, but the status stands; what it names is not there
    ],
)
def test_an_answer_is_its_status_and_its_object(raw: bytes, body: dict[str, int]) -> None:
    with server(says(raw)) as url:
        assert call(url) == Answer(200, body)


def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    raw = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n"
    with server(says(raw)) as url:
        assert call(url).status == 302


def test_an_answer_without_end_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(line: socket.socket) -> None:
        line.sendall(HEAD + b"\r\n")
        while True:
            line.sendall(b"x" * 65_536)

    with server(endless) as url, pytest.raises(ValueError, match="too long"):
        call(url)


def test_an_answer_that_trickles_on_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "LONGEST", 0.0)
    raw = HEAD + b'Content-Length: 8\r\n\r\n{"a": 1}'
    with server(says(raw)) as url, pytest.raises(TimeoutError):
        call(url)


@pytest.mark.parametrize("raw", [b"", b"HTTP/1.1 2", HEAD + b'Content-Length: 80\r\n\r\n{"a"', b"SSH-2.0\r\n"])
def test_a_line_that_is_cut_means_that_nobody_knows(raw: bytes) -> None:
    with server(says(raw)) as url, pytest.raises(Exception) as raised:  # noqa: PT011 - whatever it is, but not these
        call(url)
    assert not isinstance(raised.value, NotSent | NotAccepted | PutOff)


def test_where_nobody_listens_nothing_has_left() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        with pytest.raises(NotSent):
            call(f"http://127.0.0.1:{closed.getsockname()[1]}")
    with pytest.raises(NotSent):
        call("http://nowhere.invalid")


@pytest.mark.parametrize("url", ["http://", "http://" + "[", "http://host:port"])
def test_an_address_that_cannot_be_read_will_never_do(url: str) -> None:
    with pytest.raises(NotAccepted):
        call(url)


def test_a_certificate_that_is_not_trusted_is_told_nothing(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The handshake fails before the first byte of the request, and so before the token."""
    key, cert = tmp_path / "key", tmp_path / "cert"
    _self_signed(key, cert)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def run() -> None:
            line, _ = listening.accept()
            try:
                with context.wrap_socket(line, server_side=True) as safe:
                    heard.append(safe.recv(1000))
            except OSError:
                pass

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        with pytest.raises(NotSent, match="certificate"):
            call(f"https://127.0.0.1:{listening.getsockname()[1]}")
        thread.join(10)
    assert heard == []


def _self_signed(key, cert) -> None:  # type: ignore[no-untyped-def]
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl here to make a certificate with")
    words = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    subprocess.run(["openssl", "req", *words, "-keyout", key, "-out", cert], check=True, capture_output=True)


IN_A_MINUTE = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=60)


@pytest.mark.parametrize(
    ("said", "least", "most"),
    [("7", 7, 7), ("0", 1, 1), ("999999", 3600, 3600), (format_datetime(IN_A_MINUTE, usegmt=True), 1, 60)],
)
def test_when_to_come_again_is_understood_within_reason(said: str, least: float, most: float) -> None:
    raw = b"HTTP/1.1 429 Too Many\r\nContent-Length: 0\r\nRetry-After: " + said.encode() + b"\r\n\r\n"
    with server(says(raw)) as url:
        wish = http.not_now(call(url), "too much")
    assert isinstance(wish, PutOff)
    assert least <= wish.seconds <= most


@pytest.mark.parametrize("said", ["", "soon", "-5", "1e9", "²"])
def test_without_a_time_it_is_tried_again_after_a_pause(said: str) -> None:
    raw = b"HTTP/1.1 429 Too Many\r\nContent-Length: 0\r\nRetry-After: " + said.encode("latin-1") + b"\r\n\r\n"
    with server(says(raw)) as url:
        assert isinstance(http.not_now(call(url), "too much"), NotSent)
