#include "model/modern/torchscript.h"

#include "core/error.h"

namespace bertpretrain {
namespace {

std::string linear(const std::string& x, const std::string& module) {
    return concat("torch.linear(", x, ", ", module, ".weight)");
}

std::string norm(const ModernBertConfig& config, const std::string& x, const std::string& module) {
    return concat("torch.layer_norm(", x, ", [", config.hidden_size, "], ", module, ".weight, None, ", config.norm_eps, ")");
}

std::string activation(GateActivation kind, const std::string& x) {
    if (kind == GateActivation::silu) return concat("torch.silu(", x, ")");
    return concat("torch.gelu(", x, ", approximate=\"", kind == GateActivation::gelu ? "none" : "tanh", "\")");
}

std::string layer_methods(const ModernBertConfig& config, std::int64_t layer) {
    const std::int64_t N = config.num_attention_heads, D = config.hidden_size / N;
    const std::string normed = layer == 0 ? "residual" : norm(config, "residual", "self.attn_norm");
    return concat("def rotated(self, x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:\n",
                  "    low, high = torch.chunk(x, 2, 3)\n",
                  "    return torch.cat([low * cosines - high * sines, high * cosines + low * sines], 3)\n\n",
                  "def forward(self, residual: Tensor, mask: Optional[Tensor], cosines: Tensor, sines: Tensor) -> Tensor:\n",
                  "    qkv = ", linear(normed, "self.attn.Wqkv"), ".unflatten(2, [3, ", N, ", ", D, "]).permute(2, 0, 3, 1, 4)\n",
                  "    context = torch.scaled_dot_product_attention(self.rotated(qkv[0], cosines, sines), ",
                  "self.rotated(qkv[1], cosines, sines), qkv[2], mask)\n", "    residual = residual + ",
                  linear("context.transpose(1, 2).flatten(2)", "self.attn.Wo"), "\n", "    gated = torch.chunk(",
                  linear(norm(config, "residual", "self.mlp_norm"), "self.mlp.Wi"), ", 2, 2)\n", "    return residual + ",
                  linear(activation(config.hidden_activation, "gated[0]") + " * gated[1]", "self.mlp.Wo"), "\n");
}

std::string encode_body(const ModernBertConfig& config) {
    std::string text = concat(
        "    positions = torch.arange(input_ids.size(1), device=input_ids.device)\n"
        "    distance = (positions.unsqueeze(0) - positions.unsqueeze(1)).abs()\n"
        "    near = distance <= ",
        config.local_attention / 2,
        "\n"
        "    wide: Optional[Tensor] = None\n"
        "    if attention_mask is not None:\n"
        "        real = attention_mask.ne(0).unsqueeze(1).unsqueeze(1)\n"
        "        wide = real\n"
        "        near = near & (real | distance.eq(0))\n"  // padding attends to itself: a row without keys would be NaN
        "    global_cosines, global_sines = self.angles(positions, float(",
        config.global_rope_theta, "))\n    local_cosines, local_sines = self.angles(positions, float(", config.local_rope_theta,
        "))\n    hidden = torch.embedding(self.model.embeddings.tok_embeddings.weight, input_ids)\n    hidden = ",
        norm(config, "hidden", "self.model.embeddings.norm"), "\n");
    const modern::Design design = design_of(config);
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i)
        text += concat("    hidden = getattr(self.model.layers, \"", i, "\").forward(hidden, ",
                       design.is_global(i) ? "wide, global_cosines, global_sines" : "near, local_cosines, local_sines", ")\n");
    return concat(text, "    return ", norm(config, "hidden", "self.model.final_norm"), "\n");
}

std::string model_methods(const ModernBertConfig& config, bool has_heads) {
    const std::string arguments =
        "(self, input_ids: Tensor, attention_mask: Optional[Tensor] = None, token_type_ids: Optional[Tensor] = None)";
    const std::string encoded = "    hidden = self.encode(input_ids, attention_mask, token_type_ids)\n";
    const std::int64_t D = config.hidden_size / config.num_attention_heads;
    const std::string encoder =
        concat("def angles(self, positions: Tensor, theta: float) -> Tuple[Tensor, Tensor]:\n", "    exponent = torch.arange(0, ",
               D, ", 2, device=positions.device).float() / ", D, "\n",
               "    angle = (positions.float().unsqueeze(1) * (1.0 / torch.pow(theta, exponent))).double()\n",
               "    like = self.model.final_norm.weight\n",
               "    return torch.cos(angle).type_as(like), torch.sin(angle).type_as(like)\n\n", "def encode", arguments,
               " -> Tensor:\n", encode_body(config), "\n", "def mean(self, hidden: Tensor, attention_mask: Tensor) -> Tensor:\n",
               "    own = attention_mask.ne(0).unsqueeze(2)\n",  //
               "    return (hidden * own).sum(1) / own.sum(1)\n\n", "def forward", arguments, " -> Tensor:\n", encoded,
               "    return hidden\n\n");
    if (!has_heads) return encoder;
    return concat(encoder, "def pretraining", arguments, " -> Tensor:\n", encoded, "    transformed = ",
                  norm(config, activation(GateActivation::gelu, linear("hidden", "self.head.dense")), "self.head.norm"), "\n",
                  "    return torch.linear(transformed, self.model.embeddings.tok_embeddings.weight, self.decoder.bias)\n");
}

}  // namespace

std::vector<TorchscriptModule> torchscript_of(const ModernBertConfig& config, bool has_heads) {
    std::vector<TorchscriptModule> modules;
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i)
        modules.push_back({concat("model.layers.", i), layer_methods(config, i)});
    modules.push_back({"", model_methods(config, has_heads)});
    return modules;
}

}  // namespace bertpretrain
