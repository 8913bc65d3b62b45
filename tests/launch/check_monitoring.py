"""Checks scripts/launch/monitoring with promtool and a real Prometheus:  check_monitoring.py METRICS_ADDRESS
Prometheus scrapes the run that serves its numbers at METRICS_ADDRESS. Every query of the dashboard must return data, every alert must be
loaded without an error, and the tests of the alerts (monitoring_alerts.yaml) must pass. Prints one line per check; exits with 1 on a
failure."""
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import yaml

here = pathlib.Path(__file__).resolve().parent
folder = here.parents[1] / "scripts/launch/monitoring"


def rules():
    return {"groups": yaml.safe_load((folder / "alerts.yaml").read_text())["spec"]["groups"]}


def promtool(*arguments):
    result = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"promtool {arguments}: {result.stdout}{result.stderr}")
    print("passed: promtool", *arguments[:2])


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def ask(port, path, **parameters):
    url = f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return json.load(answer)["data"]
    except OSError:
        return None


def dashboard_queries():
    for panel in json.loads((folder / "dashboard.json").read_text())["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"].replace("$run", ".*")


def wait_for(what, seconds=40):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.2)
    return None


def check_with_prometheus(work, address):
    config = yaml.safe_load((folder / "prometheus.yml").read_text())
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    config["scrape_configs"][0]["static_configs"][0]["targets"] = [address]
    (work / "prometheus.yml").write_text(yaml.safe_dump(config))
    port = free_port()
    with open(work / "log", "w") as log:
        server = subprocess.Popen(["prometheus", f"--config.file={work}/prometheus.yml", f"--storage.tsdb.path={work}/data",
                                   f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
    try:
        for title, query in dashboard_queries():
            if not wait_for(lambda: (ask(port, "query", query=query) or {}).get("result")):
                sys.exit(f"dashboard: {title}: no data for {query}\n{(work / 'log').read_text()[-2000:]}")
            print("answered:", title)
        loaded = wait_for(lambda: [rule for group in (ask(port, "rules") or {}).get("groups", []) for rule in group["rules"]
                                   if rule["health"] == "ok"] if ask(port, "rules") else None)
        if not loaded or len(loaded) != sum(len(group["rules"]) for group in rules()["groups"]):
            sys.exit(f"alerts: {loaded}")
        print("evaluated:", *[rule["name"] for rule in loaded])
    finally:
        server.terminate()
        server.wait()


with tempfile.TemporaryDirectory() as name:
    work = pathlib.Path(name)
    (work / "rules.yaml").write_text(yaml.safe_dump(rules()))
    os.symlink(here / "monitoring_alerts.yaml", work / "monitoring_alerts.yaml")
    (work / "prometheus.yml").write_text((folder / "prometheus.yml").read_text())
    promtool("check", "rules", work / "rules.yaml")
    promtool("check", "config", work / "prometheus.yml")
    promtool("test", "rules", work / "monitoring_alerts.yaml")
    check_with_prometheus(work, sys.argv[1])
