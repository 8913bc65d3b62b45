"""What benchmarks share that train: sizes of models, random samples, an experiment, and timed runs of our program."""
import json
import pathlib
import random
import subprocess
import tempfile
import time

from h5_file import write_h5
from programs import program, program_environment

SIZES = {"tiny": (2, 128, 2), "quick": (4, 256, 4), "small": (4, 512, 8), "base": (12, 768, 12), "large": (24, 1024, 16), "1.5b": (48, 1600, 25)}
# ModernBERT: layers, hidden size, heads, size of the gated feed-forward part; every n-th layer is global. The last three are for the time
# of one layer of base: half of what two more layers take.
MODERN_SIZES = {"modernbert_tiny": (4, 128, 2, 192, 3), "modernbert_small": (10, 384, 6, 576, 3), "modernbert_base": (22, 768, 12, 1152, 3),
                "modernbert_large": (28, 1024, 16, 2624, 3), "modernbert_1_global": (1, 768, 12, 1152, 3),
                "modernbert_3_global": (3, 768, 12, 1152, 1), "modernbert_1_global_2_local": (3, 768, 12, 1152, 3)}
MODERN_VOCABULARY = 50368
LENGTH, PREDICTIONS = 128, {128: 20, 512: 80}  # masked positions of a sequence, by its length
TYPES = {"input_ids": "i", "input_mask": "b", "segment_ids": "b", "masked_lm_positions": "i", "masked_lm_ids": "i",
         "next_sentence_labels": "b"}  # types of a shard's datasets: 32 or 8 bits
WARM_UP = 2  # steps not counted, on both sides; the second still allocates memory


def masked_positions(size, places):
    """Returns how many positions of a sequence are masked: 30 % for ModernBERT, 15 % for BERT."""
    return int(0.3 * places) if size in MODERN_SIZES else PREDICTIONS[places]


def sample_rows(count, padding, places=LENGTH, ids=range(1000, 30000), predictions=None):
    """Returns rows as in shards, {name: a list or a number per row}, with random ids and lengths. On average a share of `padding` of
    the positions is padding. `predictions` is the number of masked positions, BERT's by default."""
    draw, predictions = random.Random(0), predictions or PREDICTIONS[places]
    rows = {name: [] for name in TYPES}
    for _ in range(count):
        length = max(places // 4, predictions + 1, int(places * (1 - 2 * padding * draw.random())))
        empty = [0] * (places - length)
        rows["input_ids"].append(draw.choices(ids, k=length) + empty)
        rows["input_mask"].append([1] * length + empty)
        rows["segment_ids"].append([0] * (length // 2) + [1] * (length - length // 2) + empty)
        rows["masked_lm_positions"].append(sorted(draw.sample(range(1, length), predictions)))
        rows["masked_lm_ids"].append(draw.choices(ids, k=predictions))
        rows["next_sentence_labels"].append(draw.randrange(2))
    return rows


def write_shard(folder, rows):
    write_h5(folder / "benchmark_training_0000.h5", {name: (TYPES[name], values) for name, values in rows.items()})


def experiment(size, micro_batch, folder, places=LENGTH):
    """Returns an experiment of our program. A ModernBERT has no dropout, as in transformers' default: our own default is 0.1 on
    attention's output."""
    data = {"training_shards": str(folder), "sequence_length": places}
    if size in MODERN_SIZES:
        layers, hidden, heads, intermediate, global_every = MODERN_SIZES[size]
        model = {"model_type": "modernbert", "hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
                 "intermediate_size": intermediate, "vocab_size": MODERN_VOCABULARY, "global_attn_every_n_layers": global_every,
                 "attention_output_dropout": 0.0}
        data["objective"] = "mlm"
    else:
        layers, hidden, heads = SIZES[size]
        model = {"hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads, "intermediate_size": 4 * hidden,
                 "vocab_size": 30528}
    return {"model": model, "data": data,
            "batch": {"micro_batch_size": micro_batch}, "optimizer": {"name": "adamw", "learning_rate": 1e-4},
            "schedule": {"name": "constant", "warmup_ratio": 0, "total_steps": 1000000},
            "training": {"precision": "bf16"}, "checkpoint": {"save_every_steps": 0}}


def peak_bytes(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


class SideFailed(SystemExit):
    """A side could not be timed. Ends the benchmark with this message unless it is caught."""


def run_ours(config, folder, steps, threads, options=(), environment=None, limit=float("inf"), trainer=None):
    """Trains until `steps` steps after the first WARM_UP are logged, then kills the run. Returns their seconds and records, the peak
    resident memory, and what the run wrote to standard error. Runs `trainer` instead of this build's program if it is given. Raises SideFailed if the run ends by itself,
    or takes longer than `limit` seconds."""
    output, begin = pathlib.Path(tempfile.mkdtemp(dir=folder)), time.monotonic()
    environment = program_environment(OMP_NUM_THREADS=str(threads), **(environment or {}))
    log, metrics, lines, peak = output.with_suffix(".stderr"), output / "metrics.jsonl", [], 0
    with open(log, "w") as errors:
        process = subprocess.Popen([trainer or program("bertpretrain"), "train", str(config), "--output", str(output), *options],
                                   env=environment, stderr=errors)
    try:
        while len(lines) < steps + WARM_UP:
            if process.poll() is not None:
                raise SideFailed(f"our side ended with exit status {process.returncode}:\n{log.read_text()}")
            if time.monotonic() - begin > limit:
                raise SideFailed(f"our side did not finish within {limit:.0f} s:\n{log.read_text()[-2000:]}")
            time.sleep(0.2)
            peak = max(peak, peak_bytes(process.pid)) if process.poll() is None else peak
            lines = metrics.read_text().splitlines() if metrics.exists() else []
    finally:
        process.kill()
        process.wait()
    records = [json.loads(line) for line in lines[WARM_UP:steps + WARM_UP]]
    return {"seconds": [record["step_seconds"] for record in records], "peak_bytes": peak, "records": records,
            "log": log.read_text()}
