"""Addresses from data files: which lead out into the web, and which hold a secret."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.judging.image_addresses import (
    ANY_HOST,
    find_address_problem,
    find_host_of_address,
    format_address_without_secrets,
    has_credential,
    is_host_allowed,
    is_host_public,
    parse_host_name,
)

PRIVATE = [
    "127.0.0.1",
    "127.1",
    "0",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "017700000001",
    "10.0.0.1",
    "172.16.5.4",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "999999999999",
    "256.1.1.1",
    "08.8.8.8",
    "[::1]",
    "[::]",
    "[fe80::1]",
    "[fe80::1%25eth0]",
    "[fd00::1]",
    "[ff02::1]",
    "[::ffff:10.0.0.1]",
    "[::ffff:8.8.8.8]",
    "[64:ff9b::808:808]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[fec0::1]",
    "[64:ff9b:1::7f00:1]",
    "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]",
    "[4000::1]",
    "wiki.corp",
    "nas.private",
    "site.test",
    "hidden.onion",
    "stra\u00dfe.example.com",
    "localhost",
    "LOCALHOST.",
    "app.localhost",
    "printer.local",
    "metadata.google.internal",
    "nas.lan",
    "router.home.arpa",
    "home.arpa",
    "intranet",
    "a..b",
    "1.2.3.4.5",
    "example.1",
    "\uff11\uff12\uff17.0.0.1",
    "127\u30020\u30020\u30021",
    "\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3",
]
PUBLIC = [
    ("cdn.example.com", "cdn.example.com"),
    ("CDN.Example.COM.", "cdn.example.com"),
    ("8.8.8.8", "8.8.8.8"),
    ("134744072", "134744072"),
    ("[2001:4860:4860::8888]", "2001:4860:4860::8888"),
    ("b\u00fccher.example.org", "xn--bcher-kva.example.org"),
    ("local.example.com", "local.example.com"),
]


@pytest.mark.parametrize("host", PRIVATE)
def test_private_networks_are_never_asked_for(host: str) -> None:
    reason = find_address_problem(f"http://{host}:8080/a.png")
    assert reason is not None
    assert "private network" in reason or reason == "is no address of the web"


@pytest.mark.parametrize(("host", "named"), PUBLIC)
def test_public_hosts_are_named_one_way(host: str, named: str) -> None:
    address = f"https://{host}/a.png?size=2"
    assert find_address_problem(address) is None
    assert find_host_of_address(address) == named == parse_host_name(host)
    assert is_host_allowed(named, [named])
    assert is_host_allowed(named, [ANY_HOST])
    assert not is_host_allowed(named, ["example.com"])


@given(st.ip_addresses())
def test_no_address_is_public_that_the_standard_library_calls_private(
    found: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    if isinstance(found, ipaddress.IPv6Address):
        inner = [found.ipv4_mapped, found.sixtofour, *(found.teredo or ())]
        is_global = all(each is None or each.is_global for each in (found, *inner))
        # Nothing else of IPv6 was given to anybody.
        expected = is_global and found in ipaddress.IPv6Network("2000::/3")
        host = f"[{found}]"
    else:
        expected = found.is_global
        host = str(found)
        for form in (str(int(found)), hex(int(found)), f"0{int(found):o}"):
            assert is_host_public(form) is is_host_public(host)
    assert (find_address_problem(f"http://{host}/") is None) is (
        expected and not found.is_multicast
    )


@pytest.mark.parametrize(
    "address",
    [
        "ftp://a.example/b",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "//a.example/b",
        "https://",
        "https://a b.example/",
        "https://a.example/\x1b[2J",
        "https://a.example\\@b.example/",
        "https://loca%6chost/",
        "https://a.example:99999/",
        "https://[broken",
        "",
    ],
)
def test_what_is_no_web_address_goes_nowhere(address: str) -> None:
    assert find_host_of_address(address) is None
    assert find_address_problem(address) is not None


@pytest.mark.parametrize(
    "address",
    [
        "https://ann:hunter2@a.example/x.png",
        "https://hunter2@a.example/x.png",
        "https://ann:hun#ter2@a.example/x.png",
        "https://ann:hunt?er2@a.example/x.png",
        "ftp://ann:hunter2@a.example/x.png",
        "ann:hunter2@a.example",
        "https://a.example/x.png?X-Amz-Signature=hunter2",
        "https://a.example/x.png?x-goog-credential=hunter2",
        "https://a.example/x.png?sv=2&sig=hunter2",
        "https://a.example/x.png?Signature=hunter2&Key-Pair-Id=1",
        "https://a.example/x.png?size=1;token=hunter2",
        "https://a.example/x.png?%74oken=hunter2",
        "https://a.example/x.png#access_token=hunter2",
        "https://maps.example/static?key=hunter2",
        "https://a.example/x.png;jsessionid=hunter2",
        "https://a.example/x.png?u=https%3A%2F%2Fbob%3Ahunter2@x.example",
        *(
            f"https://a.example/x.png?{name}=hunter2"
            for name in (
                *("accessToken", "refreshToken", "jwtToken", "clientSecret", "privateKey"),
                *("authkey", "auth_key", "access_key", "accesskey", "x-api-key", "api.key"),
                *("subscription-key", "pwd", "pass", "PHPSESSID", "x[token]", "APIKey"),
                *("GoogleAccessId", "AWSAccessKeyId", "X-Amz-Security-Token"),
            )
        ),
    ],
)
def test_credentials_are_found_and_never_shown(address: str) -> None:
    assert has_credential(address)
    assert find_address_problem(address) == "holds a password, a key or a signature"
    for part in ("hunter2", "hun", "hunt"):
        assert part not in format_address_without_secrets(address)


@pytest.mark.parametrize(
    "address",
    [
        "https://a.example/ann@work.png",
        "https://a.example/x.png?size=2&v=3",
        "https://a.example/?sortkey=1&keyword=token",
        "https://a.example/?passage=1&compass=2&author=a&design=b&session_count=3&monkey=4",
        "https://a.example/?next=https://b.example/c?d=e",
        "https://a.example/secret/password/key",
        "file:///etc/passwd",
    ],
)
def test_ordinary_addresses_hold_none(address: str) -> None:
    assert not has_credential(address)


@pytest.mark.parametrize(
    "text", ["", "a b", "https://a.example", "a.example:80", "a/b", "*.example", "[::1::2]"]
)
def test_what_is_no_host_is_none(text: str) -> None:
    assert parse_host_name(text) is None


@given(st.text(max_size=80))
def test_any_text_can_be_looked_at(text: str) -> None:
    for address in (text, f"https://{text}", f"http://{text}.example/{text}?{text}"):
        has_credential(address)
        format_address_without_secrets(address)
        find_address_problem(address)
