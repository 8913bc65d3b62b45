"""Part 1: outputs and losses of models that others trained, ours against transformers, in fp32."""

import json
import math
import sys
from pathlib import Path

import torch
from transformers import BertForMaskedLM, BertTokenizer, logging

from labelled_sets import write_sets
from lines import at_most
from other_models import other_model
from programs import PROJECT, bertpretrain, python
from samples import Chain, masked_texts, special_ids, write_shard

sys.path.append(str(PROJECT / "tests/system"))
BOUND = 1e-4
logging.set_verbosity_error()  # an encoder without heads is no fault here
logging.disable_progress_bar()


@torch.no_grad()
def compare_masked(name, folder, work, count):
    """Compares the log-probabilities of the whole vocabulary at one [MASK] per text, and the mean loss there."""
    texts = masked_texts(name, count)
    (work / f"{name}.txt").write_text("".join(text + "\n" for text, _ in texts))
    with (work / f"{name}.txt").open() as lines:
        printed = bertpretrain("predict", folder, "--json", "--top", 100000, "--device", "cpu", stdin=lines)
    tokenizer = BertTokenizer(vocab=str(folder / "vocab.txt"), do_lower_case=False)
    model = BertForMaskedLM.from_pretrained(folder).eval()
    apart, losses = 0.0, {"ours": 0.0, "theirs": 0.0}
    for (text, word), line in zip(texts, printed.splitlines(), strict=True):
        mask = json.loads(line)["masks"][0]
        batch = tokenizer(text, return_tensors="pt")
        assert int(batch["input_ids"][0, mask["position"]]) == tokenizer.mask_token_id, text
        right = model(**batch).logits[0, mask["position"]].double().log_softmax(0)
        ours = {guess["id"]: guess["probability"] for guess in mask["guesses"]}
        # Below 1e-30, a probability in decimal digits says less about its logit.
        apart = max([apart] + [abs(math.log(p) - right[i].item()) for i, p in ours.items() if p > 1e-30])
        asked = tokenizer.convert_tokens_to_ids(word)
        losses["ours"] -= math.log(ours[asked]) / count
        losses["theirs"] -= right[asked].item() / count
    return [at_most(f"{name}: log-probabilities at {count} [MASK], largest difference", apart, BOUND),
            at_most(f"{name}: MLM loss there ({losses['theirs']:.4f}), difference", abs(losses["ours"] - losses["theirs"]), BOUND)]


def compare_losses(folder, work, rows):
    """Compares rxnfp's MLM and NSP losses on made-up samples."""
    import h5py
    import hf_evaluation
    special = special_ids(folder / "vocab.txt")
    shards = work / "shards"
    shards.mkdir(parents=True, exist_ok=True)
    write_shard(shards / "random_test_0000.h5", rows, Chain(list(range(16, 60)), "forward"), special, length=512, most_masked=76)
    ours = json.loads(bertpretrain("evaluate", folder, "--shards", shards, "--json", "--device", "cpu"))
    model = hf_evaluation.model_of(folder).eval()
    with h5py.File(shards / "random_test_0000.h5") as file, torch.no_grad():
        batch = hf_evaluation.hf_batch(file)
        nsp = torch.nn.functional.cross_entropy(model(**batch).seq_relationship_logits, batch["next_sentence_label"]).item()
        mlm = model(**batch).loss.item() - nsp
    return [at_most(f"rxnfp: {name} loss on {rows} samples ({theirs:.4f}), difference", abs(ours[f"{name.lower()}_loss"] - theirs), BOUND)
            for name, theirs in (("MLM", mlm), ("NSP", nsp))]


def compare_vectors(folder, work, sets, count):
    """Compares MiniLM's hidden states, by way of its vectors, on sentences."""
    text = work / "sentences.txt"
    lines = (sets / "reviews.tsv").read_text(encoding="utf-8").splitlines()[:count]
    text.write_text("".join(line.split("\t", 1)[1] + "\n" for line in lines), encoding="utf-8")
    files = []
    for kind in ("mean", "cls"):
        files.append(work / f"{kind}.npy")
        files[-1].unlink(missing_ok=True)
        bertpretrain("embed", folder, text, "--vectors", kind, "--output", files[-1], "--device", "cpu")
    apart = json.loads(python("tests/system/hf_embeddings.py", folder, text, *files))
    return [at_most(f"minilm: {Path(name).stem} of {count} sentences' hidden states, largest difference", difference, BOUND)
            for name, difference in apart.items()]


def lines_of_part(options):
    models, work, count = options.output / "models", options.output / "forward", 30 if options.quick else 200
    work.mkdir(parents=True, exist_ok=True)
    write_sets(options.output / "sets")
    lines = compare_masked("rxnfp", other_model("rxnfp", models), work, count)
    lines += compare_losses(models / "rxnfp", work, 8 if options.quick else 64)
    lines += compare_masked("antiberty", other_model("antiberty", models), work, count)
    return lines + compare_vectors(other_model("minilm", models), work, options.output / "sets", count)
