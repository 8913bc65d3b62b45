"""Trains the same model from the disk, through an S3-compatible server, and through one with faults, in two ranks each. Prints the share of
their time that steps waited for data, and whether losses are equal. object_store.sh runs it."""
import argparse
import http.client
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from programs import PROJECT
from sample_run import load, make_shards, steps_of, train

FAULTS = [{"fault": "503", "method": "GET", "every": 7}, {"fault": "slow", "method": "GET", "contains": ".h5", "every": 3},
          {"fault": "cut", "method": "GET", "contains": ".h5", "every": 5},
          {"fault": "wrong", "method": "GET", "contains": "training", "every": 11}]


class Store:
    """moto's server and the proxy that injects faults (tests/support/object_server.py)."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        self.process = subprocess.Popen([sys.executable, "tests/support/object_server.py", str(folder)], cwd=PROJECT,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        ports = self.process.stdout.readline().split()
        if len(ports) != 2:
            sys.exit("moto's server does not start: is moto[s3] installed (scripts/setup.sh --oracles)?")
        self.port = int(ports[1])

    def put(self, shards):
        for file in sorted(shards.iterdir()):
            connection = http.client.HTTPConnection("127.0.0.1", self.port)
            connection.request("PUT", f"/bucket/shards/{file.name}", file.read_bytes())
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                sys.exit(f"{file.name}: the store answered {answer.status}")

    def set_faults(self, faults):
        (self.folder / "faults.json").write_text(json.dumps(faults))

    def requests(self):
        """Returns the requests so far, as (fetches of shards, faults)."""
        lines = (self.folder / "requests.log").read_text().splitlines()
        return sum(line.startswith("GET") and ".h5" in line for line in lines), sum(not line.endswith(" -") for line in lines)

    def environment(self):
        return {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}", "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
                "AWS_REGION": "us-east-1", "no_proxy": "127.0.0.1"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--shards", type=int, default=12)
    parser.add_argument("--duplicates", type=int, default=10, help="of the sample's text")
    parser.add_argument("--cache-share", type=float, default=1.3,
                        help="size of the local cache as a share of all shards; it must hold one window of samples")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shards = make_shards(folder, arguments.shards, arguments.duplicates)
        size = sum(file.stat().st_size for file in shards.glob("*training*.h5"))
        store = Store(folder / "store")
        try:
            store.put(shards)
            cache_gib = max(arguments.cache_share * size / 2**30, 0.0001)
            settings = [f"schedule.total_steps={arguments.steps}", "checkpoint.save_every_steps=0"]
            print(f"two ranks, {arguments.steps} steps; {arguments.shards} shards, {size / 1e6:.2f} MB; cache {cache_gib * 2**30 / 1e6:.2f} MB; "
                  f"{load()}")
            losses = {}
            for side, source, faults in (("disk", shards, []), ("store", "s3://bucket/shards", []),
                                         ("store with faults", "s3://bucket/shards", FAULTS)):
                store.set_faults(faults)
                before = store.requests()
                run = folder / side.replace(" ", "_")
                own = [f"data.cache_folder={run}_cache", f"data.cache_gib={cache_gib}"] if source != shards else []
                train(run, source, settings=settings + own, environment=store.environment())
                steps = steps_of(run)
                losses[side] = [step["mlm_loss"] for step in steps]
                later = steps[1:]  # the first waits for the first shards of a cold start
                share = 100 * sum(step["data_wait_seconds"] for step in later) / sum(step["step_seconds"] for step in later)
                fetched, failed = (now - then for now, then in zip(store.requests(), before))
                print(f"  {side:18} waiting for data {share:6.3f} % of the time (goal: below 1); first step waited "
                      f"{steps[0]['data_wait_seconds']:.2f} s; a step takes {1e3 * statistics.median(s['step_seconds'] for s in later):.1f} ms; "
                      f"{fetched} fetches of shards, {failed} faults; losses equal those from the disk: "
                      f"{'yes' if losses[side] == losses['disk'] else 'NO'}", flush=True)
        finally:
            store.process.terminate()


if __name__ == "__main__":
    main()
