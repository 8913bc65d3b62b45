#include "model/bert/torchscript.h"

#include "core/error.h"

namespace bertpretrain {
namespace {

std::string linear(const std::string& x, const std::string& module) {
    return concat("torch.linear(", x, ", ", module, ".weight, ", module, ".bias)");
}

std::string norm(const BertConfig& config, const std::string& x, const std::string& module) {
    return concat("torch.layer_norm(", x, ", [", config.hidden_size, "], ", module, ".weight, ", module, ".bias, ",
                  config.layer_norm_eps, ")");
}

std::string activation(const BertConfig& config, const std::string& x) {
    return concat("torch.gelu(", x, ", approximate=\"", config.hidden_act == HiddenAct::gelu ? "none" : "tanh", "\")");
}

/// Returns the layer's residual additions and LayerNorms, whose order depends on NormPlacement.
std::string layer_body(const BertConfig& config) {
    const std::string attended = "self.attended(hidden, mask)", fed_forward = "self.fed_forward(hidden)";
    switch (config.norm_placement) {
        case NormPlacement::post_ln:
            return concat("    hidden = ", norm(config, "hidden + " + attended, "self.attention.output.LayerNorm"), "\n",
                          "    hidden = ", norm(config, "hidden + " + fed_forward, "self.output.LayerNorm"), "\n",
                          "    return hidden, hidden\n");
        case NormPlacement::pre_ln:
            return concat("    hidden = ", norm(config, "residual", "self.attention.ln"), "\n",  //
                          "    residual = residual + ", attended, "\n",                          //
                          "    hidden = ", norm(config, "residual", "self.ln"), "\n",            //
                          "    residual = residual + ", fed_forward, "\n",                       //
                          "    return residual, residual\n");
        case NormPlacement::pre_ln_zero_residual:
            return concat("    residual = residual + ", attended, "\n",                                        //
                          "    hidden = ", norm(config, "residual", "self.attention.output.LayerNorm"), "\n",  //
                          "    residual = residual + ", fed_forward, "\n",                                     //
                          "    hidden = ", norm(config, "residual", "self.output.LayerNorm"), "\n",            //
                          "    return hidden, residual\n");
    }
    throw std::logic_error("unknown norm placement");
}

std::string encode_body(const BertConfig& config) {
    const NormPlacement placement = config.norm_placement;
    std::string text =
        "    types = torch.zeros_like(input_ids)\n"
        "    if token_type_ids is not None:\n"
        "        types = token_type_ids\n"
        "    mask: Optional[Tensor] = None\n"
        "    if attention_mask is not None:\n"
        "        mask = attention_mask.ne(0).unsqueeze(1).unsqueeze(1)\n"
        "    tables = self.bert.embeddings\n"
        "    hidden = torch.embedding(tables.word_embeddings.weight, input_ids)\n"
        "    hidden = hidden + torch.embedding(tables.token_type_embeddings.weight, types)\n"
        "    hidden = hidden + torch.slice(tables.position_embeddings.weight, 0, 0, input_ids.size(1))\n";
    if (placement != NormPlacement::pre_ln) text += "    hidden = " + norm(config, "hidden", "tables.LayerNorm") + "\n";
    text += placement == NormPlacement::pre_ln_zero_residual ? "    residual = torch.zeros_like(hidden)\n"
                                                             : "    residual = hidden\n";
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i)
        text += concat("    hidden, residual = getattr(self.bert.encoder.layer, \"", i, "\").forward(hidden, residual, mask)\n");
    if (placement == NormPlacement::pre_ln) text += "    hidden = " + norm(config, "hidden", "self.bert.encoder.ln") + "\n";
    return text + "    return hidden\n";
}

std::string layer_methods(const BertConfig& config) {
    const std::int64_t N = config.num_attention_heads, D = config.hidden_size / N;
    const auto split = [&](const std::string& part) {
        return concat("    ", part, " = ", linear("x", "self.attention.self." + part), ".unflatten(2, [", N, ", ", D,
                      "]).transpose(1, 2)\n");
    };
    return concat("def attended(self, x: Tensor, mask: Optional[Tensor]) -> Tensor:\n",  //
                  split("query"), split("key"), split("value"),
                  "    context = torch.scaled_dot_product_attention(query, key, value, mask)\n",                       //
                  "    return ", linear("context.transpose(1, 2).flatten(2)", "self.attention.output.dense"), "\n\n",  //
                  "def fed_forward(self, x: Tensor) -> Tensor:\n",                                                     //
                  "    inner = ", activation(config, linear("x", "self.intermediate.dense")), "\n",                    //
                  "    return ", linear("inner", "self.output.dense"), "\n\n",                                         //
                  "def forward(self, hidden: Tensor, residual: Tensor, mask: Optional[Tensor]) -> Tuple[Tensor, Tensor]:\n",
                  layer_body(config));
}

std::string model_methods(const BertConfig& config, bool has_heads) {
    const std::string arguments =
        "(self, input_ids: Tensor, attention_mask: Optional[Tensor] = None, token_type_ids: Optional[Tensor] = None)";
    const std::string encoded = "    hidden = self.encode(input_ids, attention_mask, token_type_ids)\n";
    const std::string transform = "self.cls.predictions.transform",
                      outputs = config.next_sentence ? "Tuple[Tensor, Tensor]" : "Tensor";
    const std::string pool = config.next_sentence
                                 ? concat("def pool(self, hidden: Tensor) -> Tensor:\n", "    return torch.tanh(",
                                          linear("hidden.select(1, 0)", "self.bert.pooler.dense"), ")\n\n")
                                 : "";
    const std::string pooled = config.next_sentence ? ", self.pool(hidden)" : "";
    const std::string next_sentence = config.next_sentence ? ", " + linear("self.pool(hidden)", "self.cls.seq_relationship") : "";
    const std::string encoder = concat("def encode", arguments, " -> Tensor:\n", encode_body(config), "\n", pool,
                                       "def mean(self, hidden: Tensor, attention_mask: Tensor) -> Tensor:\n",
                                       "    own = attention_mask.ne(0).unsqueeze(2)\n",  //
                                       "    return (hidden * own).sum(1) / own.sum(1)\n\n", "def forward", arguments, " -> ",
                                       outputs, ":\n", encoded, "    return hidden", pooled, "\n\n");
    if (!has_heads) return encoder;
    return concat(encoder, "def pretraining", arguments, " -> ", outputs, ":\n", encoded,
                  "    transformed = ", activation(config, linear("hidden", transform + ".dense")), "\n",  //
                  "    transformed = ", norm(config, "transformed", transform + ".LayerNorm"), "\n",       //
                  "    prediction_logits = torch.linear(transformed, self.bert.embeddings.word_embeddings.weight, ",
                  "self.cls.predictions.bias)\n",  //
                  "    return prediction_logits", next_sentence, "\n");
}

}  // namespace

std::vector<TorchscriptModule> torchscript_of(const BertConfig& config, bool has_heads) {
    std::vector<TorchscriptModule> modules;
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i)
        modules.push_back({concat("bert.encoder.layer.", i), layer_methods(config)});
    modules.push_back({"", model_methods(config, has_heads)});
    return modules;
}

}  // namespace bertpretrain
