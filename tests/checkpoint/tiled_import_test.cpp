// A larger model from a smaller one's weights.

#include "checkpoint/tiled_import.h"

#include <map>

#include "checkpoint/example_state.h"
#include "config/write.h"
#include "core/error.h"
#include "support/files.h"

namespace bertpretrain {
namespace {

using namespace testing;

ModelConfig model_of(ModelType type, std::int64_t layers, std::int64_t hidden, std::int64_t intermediate) {
    ModelConfig model;
    model.model_type = type;
    const auto set = [&](auto& config) {
        config.hidden_size = hidden;
        config.num_hidden_layers = layers;
        config.num_attention_heads = hidden / 8;
        config.intermediate_size = intermediate;
        config.vocab_size = 40;
        config.max_position_embeddings = 24;
    };
    set(model.bert);
    set(model.modernbert);
    set(model.neobert);
    return model;
}

/// Element `index` of the tensor `name`: no two are equal.
float value_of(const std::string& name, std::int64_t index) {
    return static_cast<float>(std::hash<std::string>()(name) % 1000) + static_cast<float>(index) / 8192;
}

/// A checkpoint of a model in which value_of() is each weight.
class Weights {
public:
    explicit Weights(const ModelConfig& model) {
        TrainingState state;
        state.step = 1;
        std::vector<std::vector<float>> memory;
        for (const ParameterSpec& spec : parameters_of(model).checkpoint_order) {
            std::vector<float>& values = memory.emplace_back();
            for (std::int64_t i = 0; i < spec.elements(); ++i) values.push_back(value_of(spec.name, i));
            state.parameters.tensors.push_back({spec.name, spec.shape});
            state.parameters.pieces.push_back({state.parameters.tensors.size() - 1, 0, nullptr, spec.elements()});
        }
        for (std::size_t i = 0; i < memory.size(); ++i) state.parameters.pieces[i].data = memory[i].data();
        state.progress = {{"step", 1}};
        state.settings = {{"model", write_config(model)}};
        files_ = std::make_unique<WeightFiles>(find_weights(CheckpointStore(folder_.path()).save(state)));
    }
    const WeightFiles& files() const { return *files_; }

private:
    TemporaryFolder folder_;
    std::unique_ptr<WeightFiles> files_;
};

std::vector<float> read_tiled(const WeightFiles& files, const PlannedImport& planned, std::int64_t elements) {
    std::vector<float> values(static_cast<std::size_t>(elements), -7);
    for (std::int64_t first = 0; first < elements; first += 37)  // like ranks, in pieces with arbitrary ends
        read_planned(files, planned, first, std::min<std::int64_t>(37, elements - first), values.data() + first);
    return values;
}

/// Row or column i of `larger`, around a copy of `smaller` rows in the centre.
std::int64_t centred(std::int64_t i, std::int64_t larger, std::int64_t smaller) {
    std::int64_t place = i - (larger - smaller) / 2;
    while (place < 0) place += smaller;
    while (place >= smaller) place -= smaller;
    return place;
}

std::string refusal(const WeightFiles& files, const ModelConfig& smaller, const ModelConfig& model) {
    try {
        plan_tiled_import(files, smaller, model, {});
    } catch (const ConfigError& error) { return error.what(); }
    return "accepted";
}

}  // namespace

TEST_CASE("layers and matrices of a smaller model are repeated around its own, each of the matrices in one tensor by itself") {
    const ModelType type = GENERATE(ModelType::bert, ModelType::modernbert, ModelType::neobert);
    CAPTURE(name_of(type));
    const ModelConfig smaller = model_of(type, 3, 16, 24), larger = model_of(type, 8, 40, 64);
    const Weights weights(smaller);
    const ImportPlan plan = plan_tiled_import(weights.files(), smaller, larger, {});
    const auto wanted = parameters_of(larger).checkpoint_order, there = parameters_of(smaller).checkpoint_order;
    // ModernBERT's first layer has no norm before attention, and the larger model's second layer begins as a copy of it.
    const std::vector<std::string> initial{"model.layers.1.attn_norm.weight"};
    CHECK(plan.initial == (type == ModelType::modernbert ? initial : std::vector<std::string>()));
    REQUIRE(plan.imports.size() + plan.initial.size() == wanted.size());
    std::map<std::string, PlannedImport> imports;
    for (const PlannedImport& import : plan.imports) imports.emplace(import.name, import);
    const std::vector<std::int64_t> layers{0, 0, 1, 1, 2, 2, 2, 2};  // round(3 i / 8), halves to even, the last at most 2
    for (std::size_t p = 0; p < wanted.size(); ++p) {
        const ParameterSpec& spec = wanted[p];
        CAPTURE(spec.name);
        if (!imports.contains(spec.name)) continue;
        std::string source = spec.name;
        for (std::size_t layer = layers.size(); layer-- > 0;)
            for (const std::string word : {".layer.", ".layers."})
                if (const auto at = spec.name.find(word + std::to_string(layer) + "."); at != std::string::npos)
                    source =
                        spec.name.substr(0, at) + word + std::to_string(layers[layer]) + spec.name.substr(at + word.size() + 1);
        const auto from = std::ranges::find(there, source, &ParameterSpec::name);
        REQUIRE(from != there.end());
        const std::int64_t columns = spec.shape.size() > 1 ? spec.shape[1] : 1, rows = spec.shape[0];
        const std::int64_t columns_there = spec.shape.size() > 1 ? from->shape[1] : 1, rows_there = from->shape[0];
        const bool keeps_rows = spec.rows != RowsMeaning::fixed;
        const std::int64_t blocks = spec.name.ends_with("Wqkv.weight") ? 3 : spec.name.ends_with("Wi.weight") ? 2 : 1;
        const std::vector<float> values = read_tiled(weights.files(), imports.at(spec.name), spec.elements());
        bool are_equal = true;
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t c = 0; c < columns; ++c) {
                const std::int64_t block = r / (rows / blocks);
                const std::int64_t row =
                    keeps_rows ? r
                               : block * (rows_there / blocks) + centred(r % (rows / blocks), rows / blocks, rows_there / blocks);
                const std::int64_t column = centred(c, columns, columns_there);
                are_equal = are_equal &&
                            values[static_cast<std::size_t>(r * columns + c)] == value_of(source, row * columns_there + column);
            }
        CHECK(are_equal);
    }
}

TEST_CASE("a model as large as its weights' gets them unchanged") {
    const ModelConfig model = model_of(ModelType::modernbert, 3, 16, 24);
    const Weights weights(model);
    const ImportPlan plan = plan_tiled_import(weights.files(), model, model, {});
    for (const PlannedImport& import : plan.imports) {
        const auto values = read_tiled(weights.files(), import, import.elements);
        bool are_equal = true;
        for (std::size_t i = 0; i < values.size(); ++i)
            are_equal = are_equal && values[i] == value_of(import.name, static_cast<std::int64_t>(i));
        CHECK(are_equal);
    }
}

TEST_CASE("a model that is smaller than its weights' in one of its sizes, or has other heads, is refused by that") {
    const ModelConfig smaller = model_of(ModelType::modernbert, 3, 16, 24);
    const Weights weights(smaller);
    const auto refused = [&](const ModelConfig& model) { return refusal(weights.files(), smaller, model); };
    CHECK_THAT(refused(model_of(ModelType::modernbert, 2, 16, 24)), Says("num_hidden_layers is 3 in the weights and 2"));
    CHECK_THAT(refused(model_of(ModelType::modernbert, 3, 16, 16)), Says("mlp.Wi.weight is 48 in the weights and 32"));
    ModelConfig wide_heads = model_of(ModelType::modernbert, 3, 32, 24);
    wide_heads.modernbert.num_attention_heads = 2;
    CHECK_THAT(refused(wide_heads), Says("heads of 16 features cannot be made from heads of 8"));
}

}  // namespace bertpretrain
