"""The files of the deployment guide that no other test runs."""

from __future__ import annotations

import configparser
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml
from support import BINARY

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"


def compose() -> dict[str, Any]:
    """The services of the containers."""
    read = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return read["services"]


def test_the_containers_share_a_database_a_token_and_a_key() -> None:
    services = compose()
    servers = [services["hotseat-1"], services["hotseat-2"]]
    assert servers[0]["environment"] == servers[1]["environment"]
    assert servers[0]["environment"]["HOTSEAT_STORE"].startswith("postgres://")
    assert servers[0]["volumes"] != servers[1]["volumes"], "each has a data folder of its own"
    key = " ".join(services["key"]["command"])
    for server in servers:
        for service in server["depends_on"]:
            assert service in services
        volume = server["volumes"][0].partition(":")[0]
        assert f"/{volume}/key" in key
    assert (DEPLOY.parent / servers[0]["build"]["dockerfile"]).is_file()


def test_nginx_in_a_container_finds_the_servers_by_their_names(tmp_path: Path) -> None:
    nginx = compose()["nginx"]
    shell, flag, script = nginx["command"]
    made = tmp_path / "default.conf"
    # All of it but the last step, which is nginx itself.
    script = script.partition("&& exec nginx")[0]
    script = script.replace("/etc/nginx/hotseat.conf", str(DEPLOY / "nginx.conf"))
    script = script.replace("/etc/nginx/conf.d/default.conf", str(made))
    subprocess.run([shell, flag, script], check=True, env={"PATH": os.environ["PATH"]})
    lines = [line.strip() for line in made.read_text().splitlines()]
    assert lines.count("server hotseat-1:4687;") == lines.count("server hotseat-2:4687;") == 2
    assert not any("127.0.0.1" in line for line in lines), "nothing is on the container itself"
    listens = {line.split()[1].rstrip(";") for line in lines if line.startswith("listen ")}
    assert listens == {port.rpartition(":")[2] for port in nginx["ports"]}


def test_the_unit_of_systemd_starts_the_program(tmp_path: Path) -> None:
    text = (DEPLOY / "hotseat@.service").read_text()
    read = configparser.ConfigParser(strict=False, interpolation=None)
    read.optionxform = str  # type: ignore[assignment,method-assign]
    read.read_string(text)
    program, command, *arguments = read["Service"]["ExecStart"].split()
    assert command == "web"
    known = subprocess.run(
        [BINARY, "web", "--help"], check=True, capture_output=True, text=True
    ).stdout
    for argument in arguments:
        assert not argument.startswith("--") or argument in known, argument
    if analyze := shutil.which("systemd-analyze"):
        unit = tmp_path / "hotseat@4687.service"
        unit.write_text(text.replace(program, str(BINARY.resolve())))
        verified = subprocess.run(
            [analyze, "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False
        )
        assert (verified.returncode, verified.stderr) == (0, "")
