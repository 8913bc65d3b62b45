"""Measures whether training waits for its data: trains a model of two layers, whose steps are very short, on 20 real shards for
more than an epoch. Takes some minutes on an idle machine. Prints data_wait_seconds as a share of step_seconds, over all steps and
over the worst hundred, and the resident memory over the run. The first steps are excluded: they wait once for the first window of
samples."""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

from interleaved import DATA_PROGRAM, PROJECT, benchmark_text, run_program, vocabulary_file

SHARDS, BATCH, WARM_UP = 20, 32, 50
CONFIG = {
    "model": {"vocab_size": 30528, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 256,
              "max_position_embeddings": 128},
    "data": {"sequence_length": 128}, "batch": {"micro_batch_size": BATCH},
    "optimizer": {"learning_rate": 1e-4}, "checkpoint": {"save_every_steps": 0},
}


def make_shards(folder):
    """Builds the shards and returns their number of rows. The text has one sentence per line and no articles, so each twenty lines
    become one article."""
    text = folder / "text.txt"
    with benchmark_text().open(encoding="utf-8") as source, text.open("w", encoding="utf-8") as target:
        for number, line in enumerate(line for line in source if line.strip()):
            target.write(line + ("\n" if number % 20 == 19 else ""))
    run_program([DATA_PROGRAM, "shard", text, "--vocabulary", vocabulary_file(), "--output", folder / "shards", "--shards", SHARDS,
                 "--duplicate-factor", 4, "--held-out-fraction", 0, "--held-out-shards", 0])
    manifest = json.loads((folder / "shards/manifest.json").read_text())
    return sum(shard["rows"] for shard in manifest["shards"])


def resident_mib(process):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def train(folder, steps, masking):
    config = json.loads(json.dumps(CONFIG))
    config["data"].update(training_shards=str(folder / "shards"), masking=masking)
    config["schedule"] = {"total_steps": steps}
    (folder / "config.json").write_text(json.dumps(config))
    run = folder / f"run_{masking}"
    process = subprocess.Popen([PROJECT / "build/release/bertpretrain", "train", folder / "config.json", "--output", run],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=PROJECT)
    memory = []
    while process.poll() is None:
        lines = (run / "metrics.jsonl").read_text().count("\n") if (run / "metrics.jsonl").exists() else 0
        memory.append((lines, resident_mib(process)))
        time.sleep(0.5)
    if process.returncode != 0:
        sys.exit(f"train: exit {process.returncode}\n{process.stderr.read()}")
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()], memory


def report(masking, rows, metrics, memory):
    steady = [line for line in metrics if line["step"] > WARM_UP]
    share = lambda lines: 100 * sum(l["data_wait_seconds"] for l in lines) / sum(l["step_seconds"] for l in lines)
    worst = max(share(steady[i:i + 100]) for i in range(0, len(steady) - 99, 50))
    rate = BATCH * len(steady) / sum(line["step_seconds"] for line in steady)
    print(f"masking {masking}: {len(metrics)} steps of {BATCH} over {rows} rows in {SHARDS} shards, {rate:.0f} sequences/s")
    print(f"  waiting for data: {share(steady):.3f} % of step time (goal: under 1), worst hundred steps {worst:.3f} %")
    parts = [[mib for line, mib in memory if len(metrics) * k / 5 <= line < len(metrics) * (k + 1) / 5] for k in range(5)]
    print("  resident memory, MiB, most in each fifth of the run: " + ", ".join(f"{max(p):.0f}" for p in parts if p), flush=True)


def main():
    subprocess.run(["cmake", "--build", PROJECT / "build/release", "--target", "bertpretrain"], check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rows = make_shards(folder)
        for masking in ("as_stored", "dynamic"):
            report(masking, rows, *train(folder, int(1.1 * rows / BATCH), masking))


if __name__ == "__main__":
    main()
