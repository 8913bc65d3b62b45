"""Hugging Face's BertForPreTraining or ModernBertForMaskedLM and a batch for it, for the peers of the benchmarks."""
import torch
from transformers import BertConfig, BertForPreTraining, ModernBertConfig, ModernBertForMaskedLM

from training_runs import LENGTH, MODERN_SIZES, MODERN_VOCABULARY, SIZES, masked_positions, sample_rows


def model_of(size):
    torch.manual_seed(0)
    if size in MODERN_SIZES:
        layers, hidden, heads, intermediate, global_every = MODERN_SIZES[size]
        config = ModernBertConfig(vocab_size=MODERN_VOCABULARY, hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads,
                                  intermediate_size=intermediate, pad_token_id=0, bos_token_id=None, eos_token_id=None, cls_token_id=None,
                                  sep_token_id=None, attn_implementation="sdpa",
                                  layer_types=["full_attention" if i % global_every == 0 else "sliding_attention" for i in range(layers)])
        config.sparse_prediction = True  # the head computes masked positions only, as ours does
        return ModernBertForMaskedLM(config).train()
    layers, hidden, heads = SIZES[size]
    return BertForPreTraining(BertConfig(vocab_size=30528, hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads,
                                         intermediate_size=4 * hidden)).train()


def batch_of(size, micro_batch, padding, places=LENGTH):
    rows = sample_rows(micro_batch, padding, places, predictions=masked_positions(size, places))
    rows = {name: torch.tensor(values) for name, values in rows.items()}
    labels = torch.full((micro_batch, rows["input_ids"].shape[1]), -100)
    labels.scatter_(1, rows["masked_lm_positions"], rows["masked_lm_ids"])
    labels[:, 0] = -100  # unused places of the list point at [CLS]
    batch = dict(input_ids=rows["input_ids"], attention_mask=rows["input_mask"], labels=labels)
    if size in MODERN_SIZES:
        return batch
    return dict(batch, token_type_ids=rows["segment_ids"], next_sentence_label=rows["next_sentence_labels"])
