"""Hugging Face's BertForPreTraining or ModernBertForMaskedLM and a batch for it, for the peers of the benchmarks."""
import torch
from transformers import AttentionInterface, BertConfig, BertForPreTraining, ModernBertConfig, ModernBertForMaskedLM

from strongest_modernbert import ragged_attention
from training_runs import LENGTH, MODERN_SIZES, MODERN_VOCABULARY, SIZES, masked_positions, sample_rows


RAGGED = "libtorch_ragged"  # a name without "flash", for which transformers would require the package flash-attn


def hf_attention(module, query, key, value, attention_mask, sliding_window=None, **unused):
    """Computes attention by libtorch's flash kernel, in transformers' interface, for batches without padding. Takes B x N x S x D, returns
    B x S x N x D. `sliding_window` is one more than the largest distance. transformers builds no mask for a function that is registered
    without one."""
    B, _, S, _ = query.shape
    rows = (x.transpose(1, 2).flatten(0, 1) for x in (query, key, value))
    starts_B1 = torch.arange(0, B * S + 1, S, dtype=torch.int32, device=query.device)
    return ragged_attention(*rows, starts_B1, S, sliding_window and sliding_window - 1).unflatten(0, (B, S)), None


AttentionInterface.register(RAGGED, hf_attention)


def model_of(size, attention="sdpa"):
    """Returns the model, ready for training. `attention` is how a ModernBERT computes attention: sdpa or RAGGED."""
    torch.manual_seed(0)
    if size in MODERN_SIZES:
        layers, hidden, heads, intermediate, global_every = MODERN_SIZES[size]
        config = ModernBertConfig(vocab_size=MODERN_VOCABULARY, hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads,
                                  intermediate_size=intermediate, pad_token_id=0, bos_token_id=None, eos_token_id=None, cls_token_id=None,
                                  sep_token_id=None, attn_implementation=attention,
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
        if not padding:
            del batch["attention_mask"]  # so that the model neither looks for padding nor builds a mask for global layers
        return batch
    return dict(batch, token_type_ids=rows["segment_ids"], next_sentence_label=rows["next_sentence_labels"])
