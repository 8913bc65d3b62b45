"""Hugging Face's BertForPreTraining and a batch for it, for the peers of the benchmarks."""
import torch
from transformers import BertConfig, BertForPreTraining

from training_runs import LENGTH, SIZES, sample_rows


def model_of(size):
    torch.manual_seed(0)
    layers, hidden, heads = SIZES[size]
    return BertForPreTraining(BertConfig(vocab_size=30528, hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads,
                                         intermediate_size=4 * hidden)).train()


def batch_of(micro_batch, padding, places=LENGTH):
    rows = sample_rows(micro_batch, padding, places)
    rows = {name: torch.tensor(values) for name, values in rows.items()}
    labels = torch.full((micro_batch, rows["input_ids"].shape[1]), -100)
    labels.scatter_(1, rows["masked_lm_positions"], rows["masked_lm_ids"])
    labels[:, 0] = -100  # unused places of the list point at [CLS]
    return dict(input_ids=rows["input_ids"], attention_mask=rows["input_mask"], token_type_ids=rows["segment_ids"], labels=labels,
                next_sentence_label=rows["next_sentence_labels"])
