"""Checks scripts/launch/monitoring with promtool and a real Prometheus:  check_monitoring.py METRICS_ADDRESS...
Prometheus scrapes the runs that serve their numbers at METRICS_ADDRESS... Every query of the dashboard must return data, every alert must be
loaded without an error, and the tests of the alerts (monitoring_alerts.yaml) must pass. The configuration of CloudWatch's agent must
have its schema, and each of its metrics must be served with its dimensions. Prints one line per check; exits with 1 on a failure."""
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import jsonschema
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


def served(addresses):
    """Returns the label names with which each metric is served."""
    found = {}
    for address in addresses:
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=5) as answer:
            for name, labels in re.findall(r"^([a-z_]+){(.*)} ", answer.read().decode(), re.M):
                found.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
    return found


def alternatives(selector):
    """Returns the names that a selector "^before_(a|b)$" selects."""
    before, names = re.fullmatch(r"\^(\w+)\(([\w|]+)\)\$", selector).groups()
    return [before + name for name in names.split("|")]


def check_cloudwatch(addresses):
    config = json.loads((folder / "cloudwatch_agent.json").read_text())
    schema = json.loads((here / "cloudwatch_schema.json").read_text())
    jsonschema.validate(config, schema)
    if jsonschema.Draft7Validator(schema).is_valid(dict(config, notAField=1)):
        sys.exit("cloudwatch: the check lets pass what it must not")
    prometheus = config["logs"]["metrics_collected"]["prometheus"]
    scrape = yaml.safe_load((folder / pathlib.Path(prometheus["prometheus_config_path"]).name).read_text())
    jobs = [job["job_name"] for job in scrape["scrape_configs"]]
    metrics = served(addresses)
    declared = set()
    for declaration in prometheus["emf_processor"]["metric_declaration"]:
        if declaration["source_labels"] != ["job"] or not any(re.search(declaration["label_matcher"], job) for job in jobs):
            sys.exit(f"cloudwatch: no job has {declaration['label_matcher']}")
        for name in (name for selector in declaration["metric_selectors"] for name in alternatives(selector)):
            if not all(set(dimensions) <= metrics.get(name, set()) for dimensions in declaration["dimensions"]):
                sys.exit(f"cloudwatch: {name} is served with {metrics.get(name)}, not with {declaration['dimensions']}")
            declared.add(name)
    if not set(prometheus["emf_processor"]["metric_unit"]) <= declared:
        sys.exit("cloudwatch: a unit of a metric that is not declared")
    print("cloudwatch: served", len(declared), "metrics with their dimensions")


def wait_for(what, seconds=40):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.2)
    return None


def check_with_prometheus(work, addresses):
    config = yaml.safe_load((folder / "prometheus.yml").read_text())
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    config["scrape_configs"][0]["static_configs"][0]["targets"] = addresses
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
    promtool("check", "config", folder / "cloudwatch_prometheus.yml")
    promtool("test", "rules", work / "monitoring_alerts.yaml")
    check_with_prometheus(work, sys.argv[1:])
    check_cloudwatch(sys.argv[1:])
