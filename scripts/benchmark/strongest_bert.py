"""The fastest BERT pretraining step that we can write in plain PyTorch, as a peer: one matmul for query, key and value, flash
attention (over ragged sequences if there is padding), heads at masked positions only. Its losses equal those of Hugging Face's
BertForPreTraining; `agrees_with_hf` returns the difference.

Axes: T tokens of all sequences, B sequences, S the padded length, H hidden size, N heads, D features of a head, M masked positions.
"""
import torch
from torch import nn
from torch.nn import functional as F

from training_runs import SIZES, sample_rows


class Layer(nn.Module):
    def __init__(self, hidden, heads, dropout):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.qkv, self.attention_out = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.intermediate, self.output = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)
        self.attention_norm, self.output_norm = nn.LayerNorm(hidden, 1e-12), nn.LayerNorm(hidden, 1e-12)

    def attention(self, qkv_T3H, batch):
        p = self.dropout if self.training else 0.0
        if "starts_B1" not in batch:
            q, k, v = qkv_T3H.view(-1, batch["longest"], 3, self.heads, qkv_T3H.shape[1] // 3 // self.heads).permute(2, 0, 3, 1, 4)
            return F.scaled_dot_product_attention(q, k, v, dropout_p=p).transpose(1, 2).reshape(len(qkv_T3H), -1)
        q, k, v = qkv_T3H.view(len(qkv_T3H), 3, self.heads, -1).unbind(1)
        starts, longest = batch["starts_B1"], batch["longest"]
        if q.is_cuda:
            return torch.ops.aten._flash_attention_forward(q, k, v, starts, starts, longest, longest, p, False, False)[0].flatten(1)
        parts = [F.scaled_dot_product_attention(*(x[a:b].transpose(0, 1) for x in (q, k, v)), dropout_p=p).transpose(0, 1)
                 for a, b in zip(starts.tolist(), starts.tolist()[1:])]  # flash attention needs a GPU; this path is only for the check
        return torch.cat(parts).flatten(1)

    def forward(self, x_TH, batch):
        context_TH = self.attention(self.qkv(x_TH), batch)
        x_TH = self.attention_norm(x_TH + F.dropout(self.attention_out(context_TH), self.dropout, self.training))
        inner_TH = self.output(F.gelu(self.intermediate(x_TH)))
        return self.output_norm(x_TH + F.dropout(inner_TH, self.dropout, self.training))


class StrongestBert(nn.Module):
    def __init__(self, layers, hidden, heads, vocabulary, positions, dropout=0.1):
        super().__init__()
        self.dropout = dropout
        self.word, self.position, self.segment = (nn.Embedding(rows, hidden) for rows in (vocabulary, positions, 2))
        self.norm, self.transform_norm = nn.LayerNorm(hidden, 1e-12), nn.LayerNorm(hidden, 1e-12)
        self.layers = nn.ModuleList(Layer(hidden, heads, dropout) for _ in range(layers))
        self.transform, self.pooler, self.next_sentence = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 2)
        self.decoder_bias = nn.Parameter(torch.zeros(vocabulary))

    def compiled_parts(self):
        """Returns the modules to compile one by one. The layers share one compilation."""
        return self.layers

    def forward(self, batch):
        x_TH = self.norm(self.word(batch["ids_T"]) + self.position(batch["positions_T"]) + self.segment(batch["segments_T"]))
        x_TH = F.dropout(x_TH, self.dropout, self.training)
        for layer in self.layers:
            x_TH = layer(x_TH, batch)
        masked_MH = self.transform_norm(F.gelu(self.transform(x_TH[batch["masked_M"]])))
        logits_MV = F.linear(masked_MH, self.word.weight, self.decoder_bias)
        pooled_BH = torch.tanh(self.pooler(x_TH[batch["first_B"]]))
        return (F.cross_entropy(logits_MV.float(), batch["labels_M"]) +
                F.cross_entropy(self.next_sentence(pooled_BH).float(), batch["next_B"]))


def model_of(size, places):
    return StrongestBert(*SIZES[size], 30528, max(512, places))


def batch_of_rows(rows, device):
    """Returns the batch that StrongestBert takes, from rows of sample_rows(). Padding is removed; if there was any, starts_B1 (int32) has
    the first token of each sequence and the number of tokens. All other tensors are int64."""
    rows = {name: torch.tensor(values) for name, values in rows.items()}
    B, S = rows["input_ids"].shape
    lengths_B = rows["input_mask"].sum(1)
    there_BS = torch.arange(S) < lengths_B[:, None]
    starts_B1 = F.pad(lengths_B.cumsum(0), (1, 0))
    first_B = starts_B1[:-1]
    batch = {"ids_T": rows["input_ids"][there_BS], "segments_T": rows["segment_ids"][there_BS],
             "positions_T": torch.arange(S).expand(B, S)[there_BS], "first_B": first_B, "next_B": rows["next_sentence_labels"],
             "masked_M": (first_B[:, None] + rows["masked_lm_positions"]).flatten(), "labels_M": rows["masked_lm_ids"].flatten()}
    if lengths_B.min() < S:
        batch["starts_B1"] = starts_B1.int()
    return {**{name: values.to(device) for name, values in batch.items()}, "longest": int(lengths_B.max())}


def weights_of(hf):
    """Returns the weights of a BertForPreTraining under our names."""
    theirs, weights = hf.state_dict(), {}

    def take(ours, *names):
        for kind in ("weight", "bias"):
            if f"{names[0]}.{kind}" in theirs:
                weights[f"{ours}.{kind}"] = torch.cat([theirs[f"{name}.{kind}"] for name in names])

    for ours, name in (("word", "word_embeddings"), ("position", "position_embeddings"), ("segment", "token_type_embeddings"),
                       ("norm", "LayerNorm")):
        take(ours, f"bert.embeddings.{name}")
    for i in range(hf.config.num_hidden_layers):
        layer, ours = f"bert.encoder.layer.{i}", f"layers.{i}"
        take(f"{ours}.qkv", *(f"{layer}.attention.self.{name}" for name in ("query", "key", "value")))
        for mine, name in (("attention_out", "attention.output.dense"), ("attention_norm", "attention.output.LayerNorm"),
                           ("intermediate", "intermediate.dense"), ("output", "output.dense"), ("output_norm", "output.LayerNorm")):
            take(f"{ours}.{mine}", f"{layer}.{name}")
    take("transform", "cls.predictions.transform.dense")
    take("transform_norm", "cls.predictions.transform.LayerNorm")
    take("pooler", "bert.pooler.dense")
    take("next_sentence", "cls.seq_relationship")
    return {**weights, "decoder_bias": theirs["cls.predictions.bias"]}


def agrees_with_hf():
    """Returns the largest relative difference of the loss and of the word embeddings' gradient, in fp32 without dropout, with and
    without padding, on the CPU."""
    import hf_model
    hf = hf_model.model_of("tiny").eval()
    ours = StrongestBert(*SIZES["tiny"], hf.config.vocab_size, hf.config.max_position_embeddings).eval()
    ours.load_state_dict(weights_of(hf))
    worst = 0.0
    for padding in (0.0, 0.3):
        hf.zero_grad(), ours.zero_grad()
        theirs, mine = hf(**hf_model.batch_of("tiny", 4, padding)).loss, ours(batch_of_rows(sample_rows(4, padding), "cpu"))
        theirs.backward(), mine.backward()
        of_hf, of_ours = hf.bert.embeddings.word_embeddings.weight.grad, ours.word.weight.grad
        worst = max(worst, abs(mine.item() / theirs.item() - 1), ((of_ours - of_hf).norm() / of_hf.norm()).item())
    return worst
