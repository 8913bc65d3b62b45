#include "model/modern/torchscript.h"

#include "core/error.h"

namespace bertpretrain::modern {
namespace {

std::string linear(const std::string& x, const std::string& module) {
    return concat("torch.linear(", x, ", ", module, ".weight)");
}

std::string norm(const Design& design, const std::string& x, const std::string& module) {
    const std::string shape_and_weight = concat(", [", design.hidden, "], ", module, ".weight");
    if (design.norm == NormKind::rms) return concat("torch.rms_norm(", x, shape_and_weight, ", ", design.eps, ")");
    return concat("torch.layer_norm(", x, shape_and_weight, ", None, ", design.eps, ")");
}

std::string activation(Activation kind, const std::string& x) {
    if (kind == Activation::silu) return concat("torch.silu(", x, ")");
    return concat("torch.gelu(", x, ", approximate=\"", kind == Activation::gelu_erf ? "none" : "tanh", "\")");
}

std::string layer_methods(const Design& design, std::int64_t layer) {
    const std::int64_t N = design.heads, D = design.hidden / N;
    const std::string normed = layer == 0 && design.norms_embeddings ? "residual" : norm(design, "residual", "self.attn_norm");
    return concat("def rotated(self, x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:\n",
                  "    low, high = torch.chunk(x, 2, 3)\n",
                  "    return torch.cat([low * cosines - high * sines, high * cosines + low * sines], 3)\n\n",
                  "def forward(self, residual: Tensor, mask: Optional[Tensor], cosines: Tensor, sines: Tensor) -> Tensor:\n",
                  "    qkv = ", linear(normed, "self.attn.Wqkv"), ".unflatten(2, [3, ", N, ", ", D, "]).permute(2, 0, 3, 1, 4)\n",
                  "    context = torch.scaled_dot_product_attention(self.rotated(qkv[0], cosines, sines), ",
                  "self.rotated(qkv[1], cosines, sines), qkv[2], mask)\n", "    residual = residual + ",
                  linear("context.transpose(1, 2).flatten(2)", "self.attn.Wo"), "\n", "    gated = torch.chunk(",
                  linear(norm(design, "residual", "self.mlp_norm"), "self.mlp.Wi"), ", 2, 2)\n", "    return residual + ",
                  linear(activation(design.activation, "gated[0]") + " * gated[1]", "self.mlp.Wo"), "\n");
}

std::string encode_body(const Design& design) {
    std::string text = concat(
        "    positions = torch.arange(input_ids.size(1), device=input_ids.device)\n"
        "    distance = (positions.unsqueeze(0) - positions.unsqueeze(1)).abs()\n"
        "    near = distance <= ",
        design.window,
        "\n"
        "    wide: Optional[Tensor] = None\n"
        "    if attention_mask is not None:\n"
        "        real = attention_mask.ne(0).unsqueeze(1).unsqueeze(1)\n"
        "        wide = real\n"
        "        near = near & (real | distance.eq(0))\n"  // padding attends to itself: a row without keys would be NaN
        "    global_cosines, global_sines = self.angles(positions, float(",
        design.global_theta, "))\n    local_cosines, local_sines = self.angles(positions, float(", design.local_theta,
        "))\n    hidden = torch.embedding(self.model.embeddings.tok_embeddings.weight, input_ids)\n");
    if (design.norms_embeddings) text += concat("    hidden = ", norm(design, "hidden", "self.model.embeddings.norm"), "\n");
    for (std::int64_t i = 0; i < design.layers; ++i)
        text += concat("    hidden = getattr(self.model.layers, \"", i, "\").forward(hidden, ",
                       design.is_global(i) ? "wide, global_cosines, global_sines" : "near, local_cosines, local_sines", ")\n");
    return concat(text, "    return ", norm(design, "hidden", "self.model.final_norm"), "\n");
}

std::string model_methods(const Design& design, bool has_heads) {
    const std::string arguments =
        "(self, input_ids: Tensor, attention_mask: Optional[Tensor] = None, token_type_ids: Optional[Tensor] = None)";
    const std::string encoded = "    hidden = self.encode(input_ids, attention_mask, token_type_ids)\n";
    const std::int64_t D = design.hidden / design.heads;
    const std::string encoder =
        concat("def angles(self, positions: Tensor, theta: float) -> Tuple[Tensor, Tensor]:\n", "    exponent = torch.arange(0, ",
               D, ", 2, device=positions.device).float() / ", D, "\n",
               "    angle = (positions.float().unsqueeze(1) * (1.0 / torch.pow(theta, exponent))).double()\n",
               "    like = self.model.final_norm.weight\n",
               "    return torch.cos(angle).type_as(like), torch.sin(angle).type_as(like)\n\n", "def encode", arguments,
               " -> Tensor:\n", encode_body(design), "\n", "def mean(self, hidden: Tensor, attention_mask: Tensor) -> Tensor:\n",
               "    own = attention_mask.ne(0).unsqueeze(2)\n",  //
               "    return (hidden * own).sum(1) / own.sum(1)\n\n", "def forward", arguments, " -> Tensor:\n", encoded,
               "    return hidden\n\n");
    if (!has_heads) return encoder;
    const std::string transformed =
        design.transforms ? norm(design, activation(Activation::gelu_erf, linear("hidden", "self.head.dense")), "self.head.norm")
                          : "hidden";
    const std::string decoder = design.transforms ? "self.model.embeddings.tok_embeddings.weight" : "self.decoder.weight";
    return concat(encoder, "def pretraining", arguments, " -> Tensor:\n", encoded, "    return torch.linear(", transformed, ", ",
                  decoder, ", self.decoder.bias)\n");
}

}  // namespace

std::vector<TorchscriptModule> torchscript_of(const Design& design, bool has_heads) {
    std::vector<TorchscriptModule> modules;
    for (std::int64_t i = 0; i < design.layers; ++i) modules.push_back({concat("model.layers.", i), layer_methods(design, i)});
    modules.push_back({"", model_methods(design, has_heads)});
    return modules;
}

}  // namespace bertpretrain::modern
