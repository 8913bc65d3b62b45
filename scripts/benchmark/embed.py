"""Times `bertpretrain embed` and transformers on the same real lines of mixed lengths, interleaved in one run. The peer does what
sentence-transformers' encode() does: all lines sorted by length, batches of 32 padded to their longest, mean pooling, inference mode,
eager PyTorch with its fused attention. On both sides tokenizing and writing count, and loading the model does not. Called by
embed.sh."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

from interleaved import benchmark_text, compare, vocabulary_file
from programs import program

SHAPES = {"6x384": (6, 384, 12), "base": (12, 768, 12)}


def write_model(folder, shape):
    """Saves a random model of this shape with BERT's vocabulary, using transformers."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer
    torch.manual_seed(0)
    layers, hidden, heads = SHAPES[shape]
    BertModel(BertConfig(vocab_size=30528, hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads,
                         intermediate_size=4 * hidden)).save_pretrained(folder)
    BertTokenizer(vocab=str(vocabulary_file())).save_pretrained(folder)
    (folder / "vocab.txt").write_bytes(vocabulary_file().read_bytes())


def some_lines(count):
    """Returns lines of all lengths, spread over the text. Every other one is two lines joined, for texts longer than a sentence."""
    lines = [line for line in benchmark_text().read_text().split("\n") if line.strip()]
    chosen = lines[::max(1, len(lines) // (2 * count))]
    return [a if i % 2 else f"{a} {b}" for i, (a, b) in enumerate(zip(chosen[::2], chosen[1::2]))][:count]


def run_ours(folder, text, precision, environment):
    output = folder / f"ours_{precision}.npy"
    output.unlink(missing_ok=True)
    result = subprocess.run([program("bertpretrain"), "embed", str(folder / "model"), str(text), "--output", str(output),
                             "--precision", precision, "--device", "cpu", "--json"], capture_output=True, text=True, env=environment)
    if result.returncode != 0:
        sys.exit(f"our side failed:\n{result.stderr}")
    return json.loads(result.stdout)["seconds"]


def run_peer(folder, text, precision, environment):
    result = subprocess.run([sys.executable, __file__, "--peer", str(folder / "model"), str(text),
                             str(folder / f"theirs_{precision}.npy"), precision], capture_output=True, text=True, env=environment)
    if result.returncode != 0:
        sys.exit(f"the peer failed:\n{result.stderr}")
    return float(result.stdout.split()[-1])


def peer(folder, text, output, precision):
    """Does what sentence-transformers' encode() does, and prints its seconds."""
    import time

    import torch
    from transformers import AutoModel, AutoTokenizer
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, dtype=torch.bfloat16 if precision == "bf16" else torch.float32).eval()
    lines = pathlib.Path(text).read_text().split("\n")[:-1]

    @torch.inference_mode()
    def encode(batch):
        inputs = tokenizer(batch, padding=True, truncation=True, max_length=512, return_tensors="pt")
        hidden, own = model(**inputs).last_hidden_state, inputs["attention_mask"].unsqueeze(-1)
        return ((hidden * own).sum(1) / own.sum(1)).float()

    encode(lines[:32])  # warm-up: the libraries initialize
    began = time.perf_counter()
    order = sorted(range(len(lines)), key=lambda i: -len(lines[i]))
    vectors = torch.cat([encode([lines[i] for i in order[first:first + 32]]) for first in range(0, len(order), 32)])
    result = torch.empty_like(vectors)
    result[order] = vectors
    numpy.save(output, result.numpy())
    print(time.perf_counter() - began)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shape", choices=SHAPES, action="append")
    parser.add_argument("--lines", type=int, default=0, help="0: 3,000 at 6x384, 600 at base")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    arguments = parser.parse_args()
    environment = dict(os.environ, OMP_NUM_THREADS=str(arguments.threads), TOKENIZERS_PARALLELISM="true", HF_HUB_OFFLINE="1")
    for shape in arguments.shape or SHAPES:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            write_model(folder / "model", shape)
            lines = some_lines(arguments.lines or {"6x384": 3000, "base": 600}[shape])
            text = folder / "text"
            text.write_text("".join(line + "\n" for line in lines))
            words = sorted(len(line.split()) for line in lines)
            sides = {f"{who} {precision}": lambda run=run, precision=precision: run(folder, text, precision, environment)
                     for who, run in (("ours", run_ours), ("transformers", run_peer)) for precision in ("bf16", "fp32")}
            title = (f"embedding {len(lines)} lines of {words[0]} to {words[-1]} words (median {words[len(words) // 2]}) at {shape}, "
                     f"{arguments.threads} threads")
            compare(title, sides, len(lines), "lines", arguments.rounds, warm_up=0)
            exact = numpy.load(folder / "theirs_fp32.npy")
            for kind in ("ours_fp32", "ours_bf16", "theirs_bf16"):
                found = numpy.load(folder / f"{kind}.npy")
                cosine = (found * exact).sum(1) / numpy.linalg.norm(found, axis=1) / numpy.linalg.norm(exact, axis=1)
                print(f"  {kind} against transformers fp32: largest difference {numpy.abs(found - exact).max():.1e}, "
                      f"smallest cosine {cosine.min():.6f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peer"]:
        peer(*sys.argv[2:6])
    else:
        main()
