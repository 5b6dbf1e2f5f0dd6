"""What operators set up, as the documentation says: nginx and Caddy in front of the application, a unit of systemd."""

from __future__ import annotations

import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from qassay.demo import demo_folder

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "operate.md"
HOST, PASSWORD = "qa.example.org", "a long enough password"
UPSTREAM = "127.0.0.1:8000"

pytestmark = pytest.mark.slow


def from_page(language: str, holding: str) -> str:
    """The block of the documentation in a language that holds some words."""
    blocks = re.findall(rf"^```{language}?\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    matching: list[str] = [block for block in blocks if holding in block]
    assert matching, f"no block in {language or 'no language'} with {holding}"
    return matching[0]


def program(name: str) -> str:
    program = shutil.which(name, path="/usr/sbin:/usr/bin:/usr/local/bin")
    if program is None:
        pytest.skip(f"{name} is not installed (apt-get install {name})")
    return program


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def wait_for(port: int) -> None:
    """Wait until a port speaks https; Caddy listens a moment before it has its certificate."""
    anybody = ssl.create_default_context()
    anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
    for _ in range(600):
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=5) as plain:
                anybody.wrap_socket(plain, server_hostname=HOST).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"nothing speaks https on port {port}")


@dataclass(frozen=True)
class Site:
    """The application behind its proxy: how people reach it, and the link for the first organiser."""

    port: int
    authority: Path
    token: str

    def browser(self, **headers: str) -> httpx.Client:
        """A browser that takes the proxy for the host of the documentation."""
        trust = ssl.create_default_context(cafile=str(self.authority))
        sent = {"Host": HOST, "Origin": f"https://{HOST}", **headers}
        return httpx.Client(base_url=f"https://127.0.0.1:{self.port}", headers=sent, verify=trust, timeout=60)

    def ask(self, browser: httpx.Client, method: str, path: str, **more: Any) -> httpx.Response:
        """The answer; cookies are sent as the browser of somebody at that host would send them."""
        answer = browser.request(method, path, extensions={"sni_hostname": HOST}, **more)
        for cookie in answer.headers.get_list("set-cookie"):
            name, _, value = cookie.partition(";")[0].partition("=")
            browser.headers["Cookie"] = f"{name}={value}"
        return answer

    def go_in(self, browser: httpx.Client, name: str = "ada") -> httpx.Response:
        sent = {"token": self.token, "name": name, "password": PASSWORD}
        return self.ask(browser, "POST", "/api/welcome", json=sent)


Behind = Callable[..., Site]


@pytest.fixture
def behind(tmp_path: Path) -> Iterator[Behind]:
    """Start the application with the arguments of the page, and a proxy with its configuration."""
    with ExitStack() as running:

        def start(proxy: str, holding: str, command: str) -> Site:
            program(proxy)
            inside, outside = free_port(), free_port()
            token = running.enter_context(_application(tmp_path, command, inside))
            configuration = from_page(proxy, holding).replace(UPSTREAM, f"127.0.0.1:{inside}")
            authority = running.enter_context(PROXIES[proxy](tmp_path, configuration, outside))
            return Site(outside, authority, token)

        yield start


@pytest.fixture(params=["nginx", "caddy"])
def proxy(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


class Running:
    """A program that runs for a while."""

    def __init__(self, arguments: list[str], result: Any = None, **more: Any) -> None:
        self.result = result
        self.process = subprocess.Popen(arguments, text=True, **more)

    def __enter__(self) -> Any:
        return self.result

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.communicate(timeout=30)


def _application(room: Path, command: str, port: int) -> Running:
    """`qassay serve` as the page has it, on another port; the token of the first organiser."""
    arguments = from_page("", command).split()
    assert arguments[:3] == ["qassay", "serve", "my-eval"]
    shutil.copytree(demo_folder(), room / "my-eval")
    code = "import sys; from qassay.cli import main; sys.exit(main(sys.argv[1:]))"
    started = Running(
        [sys.executable, "-c", code, *arguments[1:], "--port", str(port), "--log", "none"],
        cwd=room,
        stdout=subprocess.PIPE,
    )
    assert started.process.stdout is not None
    answer = ""
    while "/welcome#" not in answer:
        answer += (line := started.process.stdout.readline())
        assert line, answer
    assert f"is served at https://{HOST} " in answer
    started.result = answer.rpartition("/welcome#")[2].strip()
    return started


def _nginx(room: Path, configuration: str, port: int) -> Running:
    names = (
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        f"/CN={HOST}",
        "-addext",
        f"subjectAltName=DNS:{HOST}",
    )
    files = ("-keyout", str(room / "site.key"), "-out", str(room / "site.pem"))
    subprocess.run([program("openssl"), "req", "-x509", *names, *files], check=True, capture_output=True)
    hashed = subprocess.run([program("openssl"), "passwd", "-6", PASSWORD], check=True, capture_output=True, text=True)
    (room / "users").write_text("".join(f"{name}:{hashed.stdout.strip()}\n" for name in ("ada", "eve")))
    own = {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        f"/etc/ssl/{HOST}.pem": str(room / "site.pem"),
        f"/etc/ssl/{HOST}.key": str(room / "site.key"),
        "/etc/nginx/qassay.users": str(room / "users"),
    }
    for theirs, ours in own.items():
        configuration = configuration.replace(theirs, ours)
    folders = "".join(
        f"{name}_temp_path {room}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (room / "nginx.conf").write_text(
        f"daemon off; user root; pid {room}/nginx.pid; error_log stderr crit; events {{}}\n"
        f"http {{ access_log off;\n{folders}{configuration}}}\n"
    )
    started = Running([program("nginx"), "-p", str(room), "-c", str(room / "nginx.conf")], room / "site.pem")
    wait_for(port)
    return started


def _caddy(room: Path, configuration: str, port: int) -> Running:
    hashing = [program("caddy"), "hash-password", "--plaintext", PASSWORD]
    hashed = subprocess.run(hashing, check=True, capture_output=True, text=True).stdout.strip()
    configuration = configuration.replace("ada $2a$14$...", f"ada {hashed}\n        eve {hashed}")
    # Certificates of its own instead of those that it fetches for a host that is known to the world.
    local = f"{{\nadmin off\nlocal_certs\nskip_install_trust\nauto_https disable_redirects\nhttps_port {port}\n}}\n"
    configuration = configuration.replace(f"{HOST} {{", f"{HOST} {{\n    bind 127.0.0.1")
    (room / "Caddyfile").write_text(local + configuration)
    started = Running(
        [program("caddy"), "run", "--config", str(room / "Caddyfile"), "--adapter", "caddyfile"],
        room / "data/caddy/pki/authorities/local/root.crt",
        env={"HOME": str(room), "XDG_DATA_HOME": str(room / "data"), "XDG_CONFIG_HOME": str(room / "config")},
        stderr=subprocess.DEVNULL,
    )
    wait_for(port)
    return started


PROXIES = {"nginx": _nginx, "caddy": _caddy}
PLAIN, NAMING = "--trusted-proxy 127.0.0.1\n", "--trusted-header"


def test_people_come_in_by_the_proxy(behind: Behind, proxy: str) -> None:
    site = behind(proxy, "reverse_proxy" if proxy == "caddy" else "proxy_pass", PLAIN)
    with site.browser(**{"X-Forwarded-For": "203.0.113.9"}) as browser:
        answer = site.ask(browser, "GET", "/sign-in")
        assert answer.status_code == 200
        assert answer.headers["strict-transport-security"].startswith("max-age=")
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        answer = site.go_in(browser)
        assert answer.status_code == 200, answer.text
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("__Host-qassay=")
        assert "Secure" in cookie
        account = site.ask(browser, "GET", "/api/account").json()
        assert account["role"] == "organiser"
        # The proxy comes from a trusted address itself here; what the client says of its own is not believed by Caddy,
        # and nginx adds to it.
        seen = {"nginx": "203.0.113.9", "caddy": "127.0.0.1"}[proxy]
        assert [session["address"] for session in account["sessions"]] == [seen]
        large = {"files": ("run.jsonl", b"nonsense\n" * 2_000_000)}
        answer = site.ask(browser, "POST", "/api/runs", files=large)
        assert answer.status_code == 200, answer.text
        assert answer.json()["files"][0]["faults"] > 0


def test_other_hosts_are_refused(behind: Behind) -> None:
    site = behind("nginx", "proxy_pass", PLAIN)  # Caddy answers for its own alone
    with site.browser(Host="elsewhere.example.org") as browser:
        assert site.ask(browser, "GET", "/sign-in").status_code == 400


def test_the_proxy_says_who_it_is(behind: Behind, proxy: str) -> None:
    site = behind(proxy, "X-Remote-User", NAMING)
    with site.browser(**{"X-Remote-User": "ada"}) as nobody:
        assert site.ask(nobody, "GET", "/api/account").status_code == 401
    with site.browser() as ada, site.browser(**{"X-Remote-User": "ada"}) as eve:
        ada.auth, eve.auth = ("ada", PASSWORD), ("eve", PASSWORD)
        assert site.ask(ada, "GET", "/api/account").status_code == 403  # known to the proxy, and not to us
        assert site.ask(ada, "GET", "/welcome").status_code == 200
        assert site.go_in(ada).status_code == 200
        ada.headers.pop("Cookie")
        account = site.ask(ada, "GET", "/api/account").json()
        assert (account["name"], account["role"]) == ("ada", "organiser")
        refused = site.ask(eve, "GET", "/api/account")
        assert refused.status_code == 403
        assert "'eve'" in refused.json()["message"]
        invited = {"role": "reader", "name": "eve"}
        assert site.ask(ada, "POST", "/api/people/invitations", json=invited).status_code == 201
        assert site.ask(eve, "GET", "/api/account").json()["role"] == "reader"


def test_the_unit_is_one_that_systemd_knows(tmp_path: Path) -> None:
    unit = from_page("ini", "[Service]")
    assert "/srv/qassay/venv/bin/qassay" in unit
    installed = tmp_path / "venv/bin/qassay"
    installed.parent.mkdir(parents=True)
    installed.symlink_to(shutil.which("true") or "/bin/true")
    written = tmp_path / "qassay.service"
    written.write_text(unit.replace("/srv/qassay", str(tmp_path)))
    verifying = [program("systemd-analyze"), "verify", str(written)]
    verified = subprocess.run(verifying, capture_output=True, text=True, check=False)
    assert (verified.returncode, verified.stderr) == (0, "")
