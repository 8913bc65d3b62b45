"""The peer: Hugging Face's BertForPreTraining in PyTorch as its users write it; one optimizer step per micro-batch.

Prints a JSON line with the seconds of each step and the peak memory. Arguments: size micro_batch steps threads padding
"""
import json
import resource
import sys
import time

import torch
from transformers import BertConfig, BertForPreTraining

from training_step import SIZES, WARM_UP, sample_rows

size, micro_batch, steps, threads, padding = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5])
torch.set_num_threads(threads)
torch.manual_seed(0)
layers, hidden, heads = SIZES[size]
config = BertConfig(vocab_size=30528, hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads,
                    intermediate_size=4 * hidden)
model = BertForPreTraining(config).train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

rows = {name: torch.from_numpy(values.astype("int64")) for name, values in sample_rows(micro_batch, padding).items()}
labels = torch.full((micro_batch, rows["input_ids"].shape[1]), -100)
labels.scatter_(1, rows["masked_lm_positions"], rows["masked_lm_ids"])
labels[:, 0] = -100  # unused places of the list point at [CLS]
batch = dict(input_ids=rows["input_ids"], attention_mask=rows["input_mask"], token_type_ids=rows["segment_ids"], labels=labels,
             next_sentence_label=rows["next_sentence_labels"])


def step() -> float:
    start = time.perf_counter()
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model(**batch).loss
    loss.backward()
    optimizer.step()
    loss.item()
    return time.perf_counter() - start


for _ in range(WARM_UP):
    step()
seconds = [step() for _ in range(steps)]
print(json.dumps({"seconds": seconds, "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
