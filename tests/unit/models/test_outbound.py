"""Which URLs of requests may be called, and that nothing else is."""

import httpx2
import pytest

from burnish.domain import UsageError
from burnish.models.outbound_rules import OutboundRules, resolve_host
from burnish.models.outbound_transport import GuardedTransport

PUBLIC = "93.184.216.34"


def resolver(*answers):
    """Gives one answer after the other, and remembers what it was asked."""

    async def resolve(host, port):
        resolve.asked.append((host, port))
        return answers[min(len(resolve.asked), len(answers)) - 1]

    resolve.asked = []
    return resolve


class Network(httpx2.AsyncBaseTransport):
    """Stands where the sockets would be; the addresses in `dead` take no connection."""

    def __init__(self, dead=(), answer=None):
        self.seen, self.dead, self.answer = [], dead, answer or httpx2.Response(200, text="fine")

    async def handle_async_request(self, request):
        self.seen.append(request)
        if request.url.host in self.dead:
            raise httpx2.ConnectError("refused")
        return self.answer


async def refusal(entries, url, *found):
    with pytest.raises(UsageError) as caught:
        await OutboundRules.of(entries).addresses(url, resolver(found or (PUBLIC,)))
    assert caught.value.fix
    return caught.value.code


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.8.9.10",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.1.1",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "239.1.1.1",
        "240.0.0.1",
        "255.255.255.255",
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "198.18.0.1",
        "::1",
        "::",
        "::7f00:1",
        "fe80::1",
        "fe80::1%2",
        "fc00::1",
        "fd12:3456::1",
        "fec0::1",
        "ff02::1",
        "2001:db8::1",
        "2001:0:7f00:1::",
        "2002:7f00:1::",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.1.1",
        "::ffff:0.0.0.0",
    ],
)
async def test_an_address_that_is_not_public_is_reached_only_by_a_listed_host(address):
    url = "http://inner.example/run"

    assert await refusal(["*"], url, address) == "url_refused"
    assert await refusal(["*"], url, PUBLIC, address) == "url_refused"
    listed = OutboundRules.of(["inner.example"])
    assert await listed.addresses(url, resolver((address,))) == (address,)


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "169.254.170.2",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd20:ce::254",
        "::ffff:169.254.169.254",
        "::a9fe:a9fe",
        "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::",
        "fd00:ec2::254%1",
    ],
)
async def test_metadata_services_are_never_reached_even_if_listed(address):
    entries = ["*", "inner.example", "inner.example:80"]

    assert await refusal(entries, "http://inner.example/", address) == "url_refused"


@pytest.mark.parametrize(
    "url",
    [
        "http://metadata.google.internal/computeMetadata/v1/",
        "http://METADATA.google.internal./",
        "http://metadata/",
        "http://instance-data/",
        "http://user@agents.example/",
        "http://user:secret@agents.example/",
        "ftp://agents.example/",
        "file:///etc/passwd",
        "agents.example/run",
        "//agents.example/run",
        "http:///run",
        "http://agents.example:0/",
        "http://agents.example:99999/",
        "http://agents\n.example/",
        "http://0177.0.0.1/",
        "http://[::1/",
        "http://[/",
        "http://a[b]/",
        "http://a..b/",
        "http://ex%61mple.com/",
        "http://@agents.example/",
        "http://\ud800/",
        "",
    ],
)
async def test_what_is_no_plain_address_is_refused_even_if_all_is_allowed(url):
    everything = ["*", "agents.example", "metadata.google.internal", "metadata", "instance-data"]

    assert await refusal(everything, url) == "url_refused"


@pytest.mark.parametrize(
    "url", ["http://2130706433/", "http://0x7f.1/", "http://127.1/", "http://0x7f000001:9/"]
)
async def test_other_spellings_of_an_address_are_what_they_mean(url):
    rules = OutboundRules.of(["*", "127.0.0.1"])

    with pytest.raises(UsageError) as caught:
        await rules.addresses(url, resolve_host)

    assert caught.value.code == "url_refused"
    assert "loopback" in caught.value.why


@pytest.mark.parametrize(
    ("entry", "url", "allowed"),
    [
        ("agents.example", "http://agents.example:8080/run", True),
        ("agents.example", "https://AGENTS.example./run", True),
        ("agents.example", "http://x.agents.example/", False),
        ("agents.example", "http://agents.example.evil/", False),
        ("agents.example:443", "https://agents.example/", True),
        ("agents.example:443", "http://agents.example/", False),
        ("agents.example:80", "http://agents.example:8080/", False),
        ("Bücher.example", "http://xn--bcher-kva.example/", True),
        ("[::1]:9000", "http://[0:0:0:0:0:0:0:1]:9000/", True),
        ("[::1]:9000", "http://[::1]:9001/", False),
        ("*", "http://agents.example/", True),
        ("10.0.0.1", "http://10.0.0.1:5/", True),
    ],
)
async def test_a_listed_host_is_that_host_and_port(entry, url, allowed):
    rules = OutboundRules.of([entry])

    if allowed:
        assert await rules.addresses(url, resolver((PUBLIC,))) == (PUBLIC,)
    else:
        assert await refusal([entry], url) == "url_not_allowed"


async def test_nothing_is_allowed_and_no_name_is_looked_up_unless_said():
    resolve = resolver((PUBLIC,))

    with pytest.raises(UsageError, match="--allow-url agents.example:80") as caught:
        await OutboundRules().addresses("http://agents.example/?key=secret", resolve)

    assert caught.value.code == "url_not_allowed"
    assert "secret" not in str(caught.value)
    assert resolve.asked == []


@pytest.mark.parametrize("entry", ["http://x", "x/y", "x:y", "x:0", "x:70000", "a b", "", "u@x"])
def test_an_entry_that_could_never_match_is_refused(entry):
    with pytest.raises(UsageError, match="cannot be used"):
        OutboundRules.of([entry])


def test_the_variable_takes_commas_and_spaces():
    found = OutboundRules.from_environment({"BURNISH_ALLOWED_URLS": "a.example, b.example:81 *"})

    assert found == OutboundRules(frozenset({("a.example", None), ("b.example", 81)}), True)
    assert OutboundRules.from_environment({}) == OutboundRules()


async def test_the_connection_goes_to_the_checked_address_although_the_name_moves():
    network, resolve = Network(), resolver((PUBLIC,), ("127.0.0.1",))
    transport = GuardedTransport(OutboundRules.of(["*"]), resolve=resolve, inner=network)

    async with httpx2.AsyncClient(transport=transport) as client:
        await client.post("https://agents.example/run?a=1", json={})
        with pytest.raises(UsageError, match="loopback"):
            await client.post("https://agents.example/run?a=1", json={})

    assert resolve.asked == [("agents.example", 443)] * 2
    (sent,) = network.seen
    assert str(sent.url) == f"https://{PUBLIC}/run?a=1"
    assert sent.headers["host"] == "agents.example"
    assert sent.extensions["sni_hostname"] == "agents.example"


async def test_a_dead_address_gives_way_to_the_next_checked_one():
    network = Network(dead=("2606:2800::1",))
    found = resolver(("2606:2800::1", PUBLIC))
    transport = GuardedTransport(OutboundRules.of(["*"]), resolve=found, inner=network)

    async with httpx2.AsyncClient(transport=transport) as client:
        answer = await client.post("http://agents.example:81/", json={"a": 1})

    assert answer.text == "fine"
    assert [str(one.url) for one in network.seen] == [
        "http://[2606:2800::1]:81/",
        f"http://{PUBLIC}:81/",
    ]
    assert found.asked == [("agents.example", 81)]


async def test_a_redirect_is_checked_like_any_other_request():
    network = Network(answer=httpx2.Response(307, headers={"location": "http://127.0.0.1/"}))
    transport = GuardedTransport(
        OutboundRules.of(["agents.example"]), resolve=resolver((PUBLIC,)), inner=network
    )

    async with httpx2.AsyncClient(transport=transport, follow_redirects=True) as client:
        with pytest.raises(UsageError, match=r"127\.0\.0\.1:80"):
            await client.post("http://agents.example/")

    assert len(network.seen) == 1


async def test_a_name_that_cannot_be_resolved_is_a_connection_that_failed():
    async def unknown(host, port):
        raise OSError("no such name")

    rules = OutboundRules.of(["*"])
    transport = GuardedTransport(rules, resolve=unknown, inner=Network())

    async with httpx2.AsyncClient(transport=transport) as client:
        with pytest.raises(httpx2.ConnectError):
            await client.get("http://agents.example/")
    with pytest.raises(UsageError, match="cannot be resolved"):
        await rules.check("http://agents.example/", unknown)
    with pytest.raises(OSError):
        await resolve_host("a" * 70 + ".example", 80)
