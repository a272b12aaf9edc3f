"""A server is only spoken to when it proves who it is."""

import datetime
import ipaddress
import logging
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from faithtui.errors import JudgeRequestRejected, JudgeUnavailable
from faithtui.judges.providers.endpoints import parse_endpoint
from faithtui.judges.providers.http_exchange import make_http_client
from faithtui.judges.providers.secret import Secret
from faithtui.judges.registry import open_judge
from tests.judges.fake_server import FakeServer
from tests.judges.questions import KEY, question

x509 = pytest.importorskip("cryptography.x509", reason="makes certificates")

PACKAGE = Path(__file__).parents[3] / "faithtui"
ADDRESSES = (
    None,
    "https://api.openai.com/v1",
    "https://gpu.example/v1",
    "https://localhost:8443/v1",
    "http://localhost:8080/v1",
)


@contextmanager
def https_server(folder: Path) -> Iterator[tuple[str, Path, list[str]]]:
    """Serve with a certificate that nobody else has signed: address, certificate, what came."""
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = x509.SubjectAlternativeName(
        [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    )
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    public, private = folder / "certificate.pem", folder / "key.pem"
    public.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    came: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            came.append(self.headers.get("authorization", ""))
            self.send_error(418)

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """A client that hangs up in the middle of the greeting is what is tested."""

    server = Server(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(public, private)
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"https://localhost:{server.server_port}/v1", public, came
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize("ref", ["openai:m", "anthropic:m"])
async def test_a_certificate_that_nobody_signed_is_refused_with_a_sentence(
    ref: str, tmp_path: Path
) -> None:
    environ = {"FAITHTUI_JUDGE_KEY": KEY}
    with https_server(tmp_path) as (address, _, came):
        async with open_judge(ref, base_url=address, environ=environ) as judge:
            with pytest.raises(JudgeUnavailable) as caught:
                await judge.send(question())
    assert "its certificate is not trusted (self-signed certificate)" in str(caught.value)
    assert "so nothing was sent" in str(caught.value)
    assert "SSL_CERT_FILE" in str(caught.value)
    assert came == []


async def test_an_authority_of_ones_own_is_trusted_where_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with https_server(tmp_path) as (address, certificate, came):
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        async with open_judge("openai:m", base_url=address, environ={}) as judge:
            with pytest.raises(JudgeRequestRejected, match="answered 418"):
                await judge.send(question())
    assert came == ["Bearer none"]


async def test_https_where_http_is_spoken_is_told(server: FakeServer) -> None:
    secure = server.url.replace("http", "https")
    async with open_judge("openai:m", base_url=secure, environ={}) as judge:
        with pytest.raises(JudgeUnavailable, match="Check whether the address begins with http"):
            await judge.send(question())


async def test_a_connection_that_is_cut_at_once_is_told(server: FakeServer) -> None:
    server.answer(reset=True, cut=0)
    async with open_judge("openai:m", base_url=server.url, environ={}) as judge:
        with pytest.raises(JudgeUnavailable, match="Check that the server runs"):
            await judge.send(question())


@pytest.mark.parametrize("address", ADDRESSES)
async def test_every_client_checks_certificates_and_names(address: str | None) -> None:
    endpoint = parse_endpoint("openai:m", address)
    assert endpoint is not None
    async with make_http_client(endpoint, Secret(KEY)) as client:
        pool = client._transport.pools[0]._pool  # type: ignore[attr-defined]  # shown nowhere
        context = pool._ssl_context
        assert context.verify_mode is ssl.CERT_REQUIRED
        assert context.check_hostname


def test_nothing_in_the_package_switches_it_off() -> None:
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        for word in ("verify=False", "CERT_NONE", "check_hostname", "_create_unverified_context"):
            assert word not in source, path


async def test_libraries_that_talk_are_quiet() -> None:
    for name in ("openai", "anthropic", "httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.DEBUG)
    async with open_judge("openai:m", base_url="http://127.0.0.1:9/v1", environ={}):
        for name in ("openai", "anthropic", "httpx2", "httpcore2.http11"):
            assert not logging.getLogger(name).isEnabledFor(logging.INFO)
