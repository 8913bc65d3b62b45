"""The fastest ModernBERT pretraining step that we can write in plain PyTorch, as a peer: one matmul for query, key and value, attention by
libraries' kernels over ragged sequences (in local layers with a window, in global layers without padding the faster of cuDNN's and the
flash kernel), the last layer and the head at masked positions only. There is no dropout, which is ModernBERT's default. Its losses equal
those of Hugging Face's ModernBertForMaskedLM; `agrees_with_hf` returns the difference.

Axes: T tokens of all sequences, B sequences, S the padded length, H hidden size, N heads, D features of a head, M masked positions,
V vocabulary, R rows of the residual: T, and M in the last layer.
"""
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

import strongest_bert
from training_runs import MODERN_SIZES, MODERN_VOCABULARY, masked_positions, sample_rows

WINDOW = 64  # largest distance in local layers: half of ModernBertConfig.local_attention
THETAS = {None: 160000.0, WINDOW: 10000.0}  # bases of the rotary frequencies, by window
EPS = 1e-5
FASTEST = {}  # the result of fastest_backend(), by shape


@torch.compiler.disable  # it calls library kernels, which torch.compile cannot fuse with anything
def ragged_attention(q_TND, k_TND, v_TND, starts_B1, longest, window):
    """Returns attention's output, T x N x D, of sequences that follow one another. starts_B1 (int32) has the first token of each sequence
    and the number of tokens, `longest` is the longest sequence's length. With a window, tokens attend to those at most `window` away."""
    if q_TND.is_cuda:
        sides = {} if window is None else {"window_size_left": window, "window_size_right": window}
        return torch.ops.aten._flash_attention_forward(q_TND, k_TND, v_TND, starts_B1, starts_B1, longest, longest, 0.0, False, False,
                                                       **sides)[0]
    outputs, starts = [], starts_B1.tolist()
    for a, b in zip(starts, starts[1:]):  # flash attention needs a GPU; this path is only for checks
        places = torch.arange(b - a)
        near = None if window is None else (places[:, None] - places).abs() <= window
        q, k, v = (x[a:b].transpose(0, 1) for x in (q_TND, k_TND, v_TND))
        outputs.append(F.scaled_dot_product_attention(q, k, v, attn_mask=near).transpose(0, 1))
    return torch.cat(outputs)


def fastest_backend(q, k, v):
    """Returns which SDPBackend computes attention faster, forward and backward: cuDNN's or the flash kernel. Measured once per shape."""
    if q.shape not in FASTEST:
        q, k, v = (x.detach().requires_grad_() for x in (q, k, v))
        milliseconds = {}
        for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION):
            try:
                times = []
                for _ in range(8):
                    torch.cuda.synchronize()
                    start = time.perf_counter()
                    with sdpa_kernel(backend), torch.enable_grad():
                        out = F.scaled_dot_product_attention(q, k, v)
                        torch.autograd.grad(out, (q, k, v), torch.ones_like(out))
                    torch.cuda.synchronize()
                    times.append(1000 * (time.perf_counter() - start))
                milliseconds[backend] = min(times)
            except RuntimeError as error:
                print(f"{backend.name} failed: {error}", file=sys.stderr)
        FASTEST[q.shape] = min(milliseconds, key=milliseconds.get)
        print(f"attention of {tuple(q.shape)}, ms by kernel: {milliseconds}", file=sys.stderr, flush=True)
    return FASTEST[q.shape]


@torch.compiler.disable  # as ragged_attention()
def attention(qk_T2ND, v_TND, batch, window, rows_R=None):
    """Returns attention's output, T x H, or only its rows `rows_R`."""
    q, k = qk_T2ND.unbind(1)
    if q.is_cuda and window is None and not batch["has_padding"]:
        q, k, v = (x.unflatten(0, (-1, batch["longest"])).transpose(1, 2) for x in (q, k, v_TND))
        with sdpa_kernel(fastest_backend(q, k, v)):
            context_TH = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(len(v_TND), -1)
    else:
        context_TH = ragged_attention(q, k, v_TND, batch["starts_B1"], batch["longest"], window).flatten(1)
    return context_TH if rows_R is None else context_TH.index_select(0, rows_R)


def rotary_angles(theta, places, head_size):
    """Returns cosine and sine, 2 x places x D / 2, computed on the CPU."""
    with torch.device("cpu"):
        frequencies = 1 / theta ** (torch.arange(0, head_size, 2, dtype=torch.float) / head_size)
        angles = torch.outer(torch.arange(places, dtype=torch.float), frequencies)
        return torch.stack((angles.cos(), angles.sin()))


def rotated(x_T2ND, angles_2TD):
    cos, sin = angles_2TD[:, :, None, None]
    a, b = x_T2ND.float().chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1).to(x_T2ND.dtype)


class Layer(nn.Module):
    """Takes and returns the fp32 residual and its LayerNorm in the compute dtype. The norm after the layer belongs to it, so that
    torch.compile fuses it with the residual's sum."""

    def __init__(self, hidden, heads, intermediate, window):
        super().__init__()
        self.heads, self.window = heads, window
        self.qkv, self.attention_out = nn.Linear(hidden, 3 * hidden, bias=False), nn.Linear(hidden, hidden, bias=False)
        self.gated, self.output = nn.Linear(hidden, 2 * intermediate, bias=False), nn.Linear(intermediate, hidden, bias=False)
        self.inner_norm, self.next_norm = (nn.LayerNorm(hidden, EPS, bias=False) for _ in range(2))

    def forward(self, x_RH, normed_TH, angles_2TD, batch, rows_R=None):
        qkv_T3ND = self.qkv(normed_TH).unflatten(1, (3, self.heads, -1))
        context_RH = attention(rotated(qkv_T3ND[:, :2], angles_2TD), qkv_T3ND[:, 2], batch, self.window, rows_R)
        x_RH = x_RH + self.attention_out(context_RH)
        inner, gate = self.gated(self.inner_norm(x_RH)).chunk(2, -1)
        x_RH = x_RH + self.output(F.gelu(inner) * gate)
        return x_RH, self.next_norm(x_RH).to(normed_TH.dtype)


class Head(nn.Module):
    def __init__(self, hidden, vocabulary):
        super().__init__()
        self.dense, self.norm = nn.Linear(hidden, hidden, bias=False), nn.LayerNorm(hidden, EPS, bias=False)
        self.decoder_bias = nn.Parameter(torch.zeros(vocabulary))

    def forward(self, normed_MH, word_VH, labels_M):
        logits_MV = F.linear(self.norm(F.gelu(self.dense(normed_MH))), word_VH, self.decoder_bias)
        return F.cross_entropy(logits_MV.float(), labels_M)


class StrongestModernBert(nn.Module):
    def __init__(self, layers, hidden, heads, intermediate, global_every, vocabulary, places):
        super().__init__()
        self.word, self.norm = nn.Embedding(vocabulary, hidden), nn.LayerNorm(hidden, EPS, bias=False)
        nn.init.normal_(self.word.weight, std=0.02)
        self.layers = nn.ModuleList(Layer(hidden, heads, intermediate, WINDOW if i % global_every else None) for i in range(layers))
        self.head = Head(hidden, vocabulary)
        for window, theta in THETAS.items():
            self.register_buffer(f"angles_of_{window}", rotary_angles(theta, places, hidden // heads).to(self.word.weight.device), False)

    def compiled_parts(self):
        """Returns the modules to compile one by one. The layers share their compilations."""
        return [*self.layers, self.head]

    def forward(self, batch):
        x_TH, masked_M = self.norm(self.word(batch["ids_T"])), batch["masked_M"]
        device = x_TH.device.type
        normed_TH = x_TH.to(torch.get_autocast_dtype(device)) if torch.is_autocast_enabled(device) else x_TH
        angles = {window: getattr(self, f"angles_of_{window}")[:, batch["positions_T"]] for window in THETAS}
        *layers, last = self.layers
        for layer in layers:
            x_TH, normed_TH = layer(x_TH, normed_TH, angles[layer.window], batch)
        _, normed_MH = last(x_TH.index_select(0, masked_M), normed_TH, angles[last.window], batch, masked_M)
        return self.head(normed_MH, self.word.weight, batch["labels_M"])


def model_of(size, places):
    return StrongestModernBert(*MODERN_SIZES[size], MODERN_VOCABULARY, places)


def batch_of_rows(rows, device):
    """Returns the batch that StrongestModernBert takes, as strongest_bert.batch_of_rows() does. It always has starts_B1."""
    batch = strongest_bert.batch_of_rows(rows, device)
    has_padding, tokens = "starts_B1" in batch, len(batch["ids_T"])
    starts_B1 = batch["starts_B1"] if has_padding else torch.arange(0, tokens + 1, batch["longest"], dtype=torch.int32, device=device)
    return {**batch, "starts_B1": starts_B1, "has_padding": has_padding}


def weights_of(hf):
    """Returns the weights of a ModernBertForMaskedLM under our names."""
    theirs, count = hf.state_dict(), hf.config.num_hidden_layers
    of_layer = {"qkv": "attn.Wqkv", "attention_out": "attn.Wo", "inner_norm": "mlp_norm", "gated": "mlp.Wi", "output": "mlp.Wo"}
    names = {name: name for name in ("head.dense", "head.norm")}
    names |= {"word": "model.embeddings.tok_embeddings", "norm": "model.embeddings.norm"}
    for i in range(count):
        names |= {f"layers.{i}.{ours}": f"model.layers.{i}.{name}" for ours, name in of_layer.items()}
        names[f"layers.{i}.next_norm"] = f"model.layers.{i + 1}.attn_norm" if i + 1 < count else "model.final_norm"
    return {f"{ours}.weight": theirs[f"{name}.weight"] for ours, name in names.items()} | {"head.decoder_bias": theirs["decoder.bias"]}


def agrees_with_hf(places=256):
    """Returns the largest relative difference of the loss and of the word embeddings' gradient from Hugging Face's model, in fp32, with
    and without padding, on the CPU. Without padding, their model with our attention function (hf-flash) is compared as well."""
    import hf_model
    size, differences = "modernbert_tiny", []
    hf, flash = hf_model.model_of(size), hf_model.model_of(size, hf_model.RAGGED)
    ours = model_of(size, places)
    ours.load_state_dict(weights_of(hf), strict=False)  # angles are no weights
    for padding in (0.0, 0.3):
        rows = sample_rows(3, padding, places, predictions=masked_positions(size, places))
        batch = hf_model.batch_of(size, 3, padding, places)
        losses = [(hf(**batch).loss, hf.model.embeddings.tok_embeddings.weight), (ours(batch_of_rows(rows, "cpu")), ours.word.weight)]
        if not padding:
            losses.append((flash(**batch).loss, flash.model.embeddings.tok_embeddings.weight))
        gradients = [torch.autograd.grad(loss, word)[0] for loss, word in losses]
        for (loss, _), gradient in zip(losses[1:], gradients[1:]):
            differences += [(loss / losses[0][0] - 1).abs(), (gradient - gradients[0]).norm() / gradients[0].norm()]
    return torch.stack(differences).max().item()  # NaN if one of them is


def kernel_difference(device):
    """Returns the largest relative difference of attention's output and gradients on `device` in bf16 from the CPU's in fp32, with and
    without window and padding. A window that is wrong by one position makes it 0.12."""
    torch.manual_seed(0)
    differences = []
    for lengths in ((256, 256, 256), (300, 70, 256, 1)):
        starts = torch.tensor([0, *lengths]).cumsum(0).int()
        qk, v, d = (torch.randn(sum(lengths), *shape).bfloat16() for shape in ((2, 2, 64), (2, 64), (128,)))
        for window in (None, WINDOW):
            results = []
            for place, dtype in (("cpu", torch.float), (device, torch.bfloat16)):
                batch = {"starts_B1": starts.to(place), "longest": max(lengths), "has_padding": len(set(lengths)) > 1}
                inputs = [x.to(place, dtype).requires_grad_() for x in (qk, v)]
                out = attention(*inputs, batch, window)
                results.append([x.detach().float().cpu() for x in (out, *torch.autograd.grad(out, inputs, d.to(place, dtype)))])
            differences += [(b - a).norm() / a.norm() for a, b in zip(*results)]
    return torch.stack(differences).max().item()  # NaN if one of them is
