#include <map>
#include <set>

#include "core/error.h"
#include "model/bert/cost.h"
#include "model/bert/parameters.h"
#include "model/initialize.h"
#include "model/small_model.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

BertConfig large() {
    BertConfig config;
    config.hidden_size = 1024;
    config.num_hidden_layers = 24;
    config.num_attention_heads = 16;
    config.intermediate_size = 4096;
    config.vocab_size = 30528;
    return config;
}

/// Returns the parameters' values, assembled from the slices of all shards.
std::map<std::string, std::vector<float>> gathered_weights(const ModelConfig& config, std::int64_t shards, std::uint64_t seed) {
    const ParameterLayout layout(parameters_of(config).layout_order, 30'000, shards);
    std::map<std::string, std::vector<float>> weights;
    for (const PlacedParameter& parameter : layout.parameters())
        weights[parameter.spec.name].resize(static_cast<std::size_t>(parameter.spec.elements()));
    for (std::int64_t shard = 0; shard < shards; ++shard) {
        const at::Tensor slice = at::full({layout.slice_elements()}, -7.0F);
        initialize_weights(layout, layout.owned_by(shard), seed, slice);
        for (const OwnedRun& run : layout.owned_by(shard)) {
            const float* from = slice.data_ptr<float>() + run.in_slice;
            std::copy(from, from + run.elements,
                      weights[layout.parameters()[run.parameter].spec.name].begin() + run.in_parameter);
        }
    }
    return weights;
}

/// Returns the initial values of the matrices of a modern encoder. Checks those of the vectors: norms are ones, biases zeros.
std::map<std::string, std::vector<float>> initial_matrices(const ModelConfig& config) {
    auto weights = gathered_weights(config, 1, 5);
    CHECK(weights == gathered_weights(config, 3, 5));
    std::erase_if(weights, [](const auto& weight) {
        const auto& [name, values] = weight;
        const bool is_norm = name.find("norm") != std::string::npos;
        if (!is_norm && name != "decoder.bias") return false;
        CAPTURE(name);
        CHECK(values == std::vector<float>(values.size(), is_norm ? 1.0F : 0.0F));
        return true;
    });
    return weights;
}

}  // namespace

TEST_CASE("the number of parameters is that of the published models") {
    const auto count = [](const BertConfig& config) {
        return ParameterLayout(parameters_of(config).layout_order, 1, 1).parameter_elements();
    };
    CHECK(count(large()) == 336'232'258);
    BertConfig habana = large();
    habana.hidden_size = 1600;
    habana.num_hidden_layers = 48;
    habana.num_attention_heads = 25;
    habana.intermediate_size = 6400;
    habana.norm_placement = NormPlacement::pre_ln_zero_residual;
    CHECK(count(habana) == 1'530'388'930);
}

TEST_CASE("shards own every element of every parameter once, and slices end at whole blocks") {
    for (const std::string& placement : placements)
        for (const std::int64_t shards : {1, 2, 3, 8}) {
            CAPTURE(placement, shards);
            const ParameterLayout layout(parameters_of(odd_config(placement)).layout_order, 6'000, shards);
            std::vector<std::vector<int>> owners;
            for (const PlacedParameter& parameter : layout.parameters())
                owners.emplace_back(static_cast<std::size_t>(parameter.spec.elements()));
            for (std::int64_t shard = 0; shard < shards; ++shard) {
                std::int64_t end_in_slice = 0;
                for (const OwnedRun& run : layout.owned_by(shard)) {
                    CHECK(run.in_flat == layout.parameters()[run.parameter].begin + run.in_parameter);
                    CHECK(run.in_slice >= end_in_slice);
                    end_in_slice = run.in_slice + run.elements;
                    for (std::int64_t i = 0; i < run.elements; ++i)
                        ++owners[run.parameter][static_cast<std::size_t>(run.in_parameter + i)];
                }
                CHECK(end_in_slice <= layout.slice_elements());
            }
            for (const std::vector<int>& of_parameter : owners)
                CHECK(std::all_of(of_parameter.begin(), of_parameter.end(), [](int times) { return times == 1; }));
            for (std::size_t b = 0; b < layout.buckets().size(); ++b) {
                CHECK(layout.buckets()[b].begin == (b == 0 ? 0 : layout.buckets()[b - 1].end));
                CHECK(layout.slice_of(b, shards - 1).elements() % ParameterLayout::block_elements == 0);
                CHECK(layout.slice_of(b, shards - 1).end == layout.buckets()[b].end);
            }
        }
}

TEST_CASE("a bucket holds parameters of one kind, whole and aligned; query, key and value adjoin") {
    const ParameterLayout layout(parameters_of(odd_config("pre_ln")).layout_order, 2'000, 3);
    const auto& parameters = layout.parameters();
    std::vector<std::set<bool>> kinds(layout.buckets().size());
    for (const PlacedParameter& parameter : parameters) {
        const Bucket& bucket = layout.buckets()[parameter.bucket];
        kinds[parameter.bucket].insert(parameter.spec.decays);
        CHECK(parameter.begin >= bucket.begin);
        CHECK(parameter.begin + parameter.spec.elements() <= bucket.end);
        CHECK((parameter.spec.adjoins || parameter.begin % ParameterLayout::alignment_elements == 0));
    }
    CHECK(layout.buckets().size() >= 10);
    for (const std::set<bool>& of_bucket : kinds) CHECK(of_bucket.size() == 1);
    for (const std::string kind : {".weight", ".bias"}) {
        const auto of = [&](const std::string& part) {
            return parameters[layout.index_of("bert.encoder.layer.1.attention.self." + part + kind)];
        };
        CHECK(of("key").begin == of("query").begin + of("query").spec.elements());
        CHECK(of("value").begin == of("key").begin + of("key").spec.elements());
    }
    CHECK_THROWS_AS(layout.index_of("bert.no.such.parameter"), std::logic_error);
}

TEST_CASE("only biases and LayerNorm are exempt from decay, and stay fp32 in a bf16 model") {
    const OwnedModel model(odd_config("post_ln"), at::kBFloat16);
    for (const PlacedParameter& parameter : model.parameters.layout().parameters()) {
        CAPTURE(parameter.spec.name);
        const bool exempt = parameter.spec.name.ends_with("bias") || parameter.spec.name.find("LayerNorm") != std::string::npos;
        CHECK(parameter.spec.decays != exempt);
        CHECK(model.parameters.weight(parameter.spec.name).scalar_type() == (exempt ? at::kFloat : at::kBFloat16));
        CHECK(model.parameters.gradient(parameter.spec.name).scalar_type() == at::kFloat);
    }
}

TEST_CASE("new weights depend on the seed, not on the number of shards") {
    for (const std::string& placement : placements) {
        CAPTURE(placement);
        const BertConfig config = odd_config(placement);
        const auto whole = gathered_weights(as_model(config), 1, 5), sliced = gathered_weights(as_model(config), 3, 5),
                   other = gathered_weights(as_model(config), 1, 6);
        CHECK(whole == sliced);
        const std::string query = "bert.encoder.layer.0.attention.self.query.weight",
                          key = "bert.encoder.layer.0.attention.self.key.weight";
        CHECK(whole.at(query) != other.at(query));
        CHECK(whole.at(query) != whole.at(key));
        for (const auto& [name, values] : whole) {
            CAPTURE(name);
            const bool is_norm = name.find("LayerNorm") != std::string::npos || name.find("ln.") != std::string::npos;
            if (name.ends_with("bias")) CHECK(values == std::vector<float>(values.size(), 0.0F));
            else if (is_norm) CHECK(values == std::vector<float>(values.size(), 1.0F));
        }
    }
}

TEST_CASE("new matrices are normally distributed with the requested deviation") {
    BertConfig config = odd_config("post_ln");
    config.vocab_size = 5'000;
    config.initializer_range = 0.03;
    const std::vector<float> values = gathered_weights(as_model(config), 1, 5).at("bert.embeddings.word_embeddings.weight");
    const auto n = static_cast<double>(values.size());
    double sum = 0, squares = 0, far = 0, neighbours = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double z = values[i] / 0.03;
        sum += z;
        squares += z * z;
        far += std::abs(z) > 2 ? 1 : 0;
        if (i > 0) neighbours += z * values[i - 1] / 0.03;
    }
    CHECK(std::abs(sum / n) < 5 / std::sqrt(n));
    CHECK(squares / n == Approx(1).margin(5 * std::sqrt(2 / n)));
    CHECK(far / n == Approx(0.0455).margin(5 * std::sqrt(0.0455 / n)));
    CHECK(std::abs(neighbours / n) < 5 / std::sqrt(n));
}

TEST_CASE("sizes that do not fit together are refused by name") {
    BertConfig config = odd_config("post_ln");
    CHECK_NOTHROW(check_settings(config));
    config.num_attention_heads = 7;
    CHECK_THROWS_WITH(check_settings(config), Catch::Contains("model.num_attention_heads = 7"));
    config.num_attention_heads = 6;
    config.hidden_size = 42;
    CHECK_THROWS_AS(check_settings(config), ConfigError);
}

TEST_CASE("floating point operations are the usual count") {
    // 24 layers: 4 H^2 + 2 H F multiply-adds per token, 2 S H per token and layer; 20 masked positions
    const double layers = 24.0 * ((4.0 * 1024 * 1024 + 2.0 * 1024 * 4096) * 128 + 2.0 * 128 * 128 * 1024);
    const double heads = 20.0 * (1024.0 * 1024 + 1024.0 * 30528) + 1024.0 * 1024 + 2 * 1024;
    CHECK(model_flops(large(), 128, 128 * 128, 20, 1) == Approx(6 * (layers + heads)));
    CHECK(model_flops(large(), 128, 128 * 128, 20, 1) == Approx(240.6e9).epsilon(0.001));
}

TEST_CASE("ModernBERT has the published numbers of parameters, and its initial weights the deviations of transformers' start") {
    ModelConfig model;
    model.model_type = ModelType::modernbert;
    ModernBertConfig& config = model.modernbert;
    config.vocab_size = 50368;
    const auto count = [](const ModelConfig& of) {
        return ParameterLayout(parameters_of(of).layout_order, 1, 1).parameter_elements();
    };
    CHECK(count(model) == 149'655'232);  // sum over the tensors of transformers 5.17's ModernBertForMaskedLM
    config.num_hidden_layers = 4;
    config.hidden_size = 128;
    config.intermediate_size = 192;
    config.num_attention_heads = 4;
    config.vocab_size = 2000;
    for (const auto& [name, values] : initial_matrices(model)) {
        CAPTURE(name);
        const bool is_output = name.find("Wo") != std::string::npos || name == "head.dense.weight";
        const double sigma = 0.02 / (is_output ? std::sqrt(8.0) : 1), n = static_cast<double>(values.size());
        double squares = 0, largest = 0;
        for (const float value : values) {
            squares += value * value;
            largest = std::max(largest, std::abs(static_cast<double>(value)));
        }
        CHECK(largest <= 2 * sigma * (1 + 1e-6));
        CHECK(largest > 1.9 * sigma);
        // a normal distribution cut at 2 deviations has the deviation 0.8796
        CHECK(std::sqrt(squares / n) == Approx(0.8796 * sigma).epsilon(5 / std::sqrt(2 * n)));
    }
}

TEST_CASE("NeoBERT has the parameters of its shape, and its initial weights are uniform up to their bound") {
    ModelConfig model;
    model.model_type = ModelType::neobert;
    NeoBertConfig& config = model.neobert;
    config.vocab_size = 30522;
    // 28 layers of 4 H^2 + 3 H F and two norms; two tables of V H; the last norm; the decoder's bias
    CHECK(ParameterLayout(parameters_of(model).layout_order, 1, 1).parameter_elements() ==
          28 * (4 * 768 * 768 + 3 * 768 * 2048 + 2 * 768) + 2 * 30522 * 768 + 768 + 30522);
    config.num_hidden_layers = 2;
    config.hidden_size = 128;
    config.intermediate_size = 384;
    config.num_attention_heads = 4;
    config.vocab_size = 2000;
    config.embedding_init_range = 0.05;
    for (const auto& [name, values] : initial_matrices(model)) {
        CAPTURE(name);
        const double bound = name.find("tok_embeddings") != std::string::npos ? 0.05 : 0.02,
                     n = static_cast<double>(values.size());
        double sum = 0, squares = 0;
        for (const float value : values) {
            sum += value;
            squares += value * value;
        }
        const auto [smallest, largest] = std::ranges::minmax(values);
        CHECK(static_cast<double>(largest) <= bound);
        CHECK(static_cast<double>(smallest) >= -bound);
        CHECK(static_cast<double>(largest - smallest) > 1.99 * bound);
        CHECK(std::abs(sum / n) < 5 * bound / std::sqrt(3 * n));
        CHECK(squares / n == Approx(bound * bound / 3).epsilon(5 / std::sqrt(n)));
    }
}

TEST_CASE("a local layer of ModernBERT costs its window, and the operations are those of the published table") {
    ModelConfig model;
    model.model_type = ModelType::modernbert;
    model.modernbert.vocab_size = 50368;
    const auto per_token = [&](double length) {
        return model_flops(model, length, length * length, 0.3 * length, 1) / length / 1e6;
    };
    CHECK(per_token(1024) == Approx(825).epsilon(0.005));
    CHECK(per_token(8192) == Approx(1353).epsilon(0.005));
}
