// Comparison with transformers' ModernBertForMaskedLM and with a plain formula under autograd, in float64.
#include <map>
#include <memory>
#include <numeric>

#include <nlohmann/json.hpp>

#include "batches/build_batch.h"
#include "model/architecture.h"
#include "model/oracle_case.h"
#include "model/small_model.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

const std::vector<std::filesystem::path>& modernbert_files() {
    static const std::vector<std::filesystem::path> files =
        oracle_files_of("modernbert_oracle", "tests/model/modernbert_oracle.py");
    return files;
}

/// One random model with one batch, written by tests/model/modernbert_oracle.py.
struct ModernBertCase {
    explicit ModernBertCase(const std::filesystem::path& file) : file_(file), name(file.stem().string()) {
        config = from_hugging_face(nlohmann::json::parse(*at_key(file_.root(), "config").text()), name);
        config.modernbert.attention_output_dropout = 0;
        for (const PtValue& parameter : *at_key(file_.root(), "names").list()) parameters.push_back(*parameter.text());
        for (const PtEntry& entry : *at_key(file_.root(), "right").dict()) results.push_back(std::get<std::string>(entry.key));
        std::vector<std::int64_t> starts_B1;
        for (const PtValue& start : *at_key(at_key(file_.root(), "batch"), "starts").list())
            starts_B1.push_back(*start.integer());
        for (std::size_t b = 0; b + 1 < starts_B1.size(); ++b) samples.lengths_B.push_back(starts_B1[b + 1] - starts_B1[b]);
        samples.numbers_B.resize(samples.lengths_B.size());
        std::iota(samples.numbers_B.begin(), samples.numbers_B.end(), 0);
        samples.input_ids_T = values_of(tensor("batch", "input_ids"));
        samples.token_type_ids_T.resize(samples.input_ids_T.size());
        samples.masked_rows_M = values_of(tensor("batch", "masked_rows"));
        samples.masked_labels_M = values_of(tensor("batch", "masked_labels"));
        samples.next_sentence_labels_B.resize(samples.lengths_B.size());
    }
    at::Tensor tensor(const std::string& group, const std::string& key) const {
        return read_tensor(file_, *at_key(at_key(file_.root(), group), key).tensor());
    }

private:
    PtReader file_;

public:
    std::string name;
    ModelConfig config;
    UnpaddedSamples samples;
    std::vector<std::string> parameters, results;
};

std::map<std::string, at::Tensor> our_results(const ModernBertCase& oracle, at::ScalarType compute_dtype) {
    const FlatParameters parameters(layout_of(oracle.config, 1, 1), compute_dtype, at::kCPU);
    for (const std::string& name : oracle.parameters) parameters.weight(name).copy_(oracle.tensor("weights", name));
    const std::unique_ptr<Model> model = make_model(oracle.config, parameters);
    const MicroBatch batch = build_batch(oracle.samples);
    const LossScale scale = mean_over(batch);
    const LossSums sums(at::kCPU);
    model->forward_backward(batch, scale, sums, {});
    std::map<std::string, at::Tensor> results{{"mlm_loss", at::scalar_tensor(sums.values().mlm_loss * scale.mlm, at::kDouble)},
                                              {"mlm_logits", model->logits(batch).mlm_MV}};
    for (const std::string& name : oracle.parameters) results["d." + name] = parameters.gradient(name).clone();
    return results;
}

}  // namespace

#define NEEDS_MODERNBERT_ORACLE() \
    if (modernbert_files().empty()) SKIP_TEST(bertpretrain::testing::skip::no_oracle, "no Python with the package transformers")

TEST_CASE("in fp32, ModernBERT's loss, logits and gradients equal float64 to 1e-5, at lengths from 1 to 8,192", "[system]") {
    NEEDS_MODERNBERT_ORACLE();
    for (const auto& file : modernbert_files()) {
        const ModernBertCase oracle(file);
        const auto ours = our_results(oracle, at::kFloat);
        CHECK(oracle.results.size() == ours.size());
        for (const std::string& result : oracle.results) {
            CAPTURE(oracle.name, result);
            CHECK(relative_error(ours.at(result), oracle.tensor("right", result)) <= 1e-5);
        }
    }
}

TEST_CASE("ModernBERT's parameters have the names, shapes and order of transformers' state_dict", "[system]") {
    NEEDS_MODERNBERT_ORACLE();
    for (const auto& file : modernbert_files()) {
        const ModernBertCase oracle(file);
        std::vector<std::string> names;
        for (const ParameterSpec& spec : parameters_of(oracle.config).checkpoint_order) {
            names.push_back(spec.name);
            CHECK(oracle.tensor("weights", spec.name).sizes() == at::IntArrayRef(spec.shape));
        }
        CHECK(names == oracle.parameters);
    }
}

TEST_CASE("documents in one row that attend to themselves alone give ModernBERT the results of documents in rows of their own",
          "[system]") {
    NEEDS_MODERNBERT_ORACLE();
    for (const auto& file : modernbert_files()) {
        ModernBertCase oracle(file);
        if (oracle.samples.lengths_B.size() < 2 || oracle.samples.input_ids_T.size() > 1000) continue;
        CAPTURE(oracle.name);
        const auto alone = our_results(oracle, at::kFloat);
        oracle.samples.attention_lengths_A = oracle.samples.lengths_B;
        oracle.samples.lengths_B = {
            std::accumulate(oracle.samples.lengths_B.begin(), oracle.samples.lengths_B.end(), std::int64_t{0})};
        oracle.samples.numbers_B.resize(1);
        oracle.samples.next_sentence_labels_B.resize(1);
        const auto packed = our_results(oracle, at::kFloat);
        for (const auto& [result, value] : alone) {
            CAPTURE(result);
            CHECK(relative_error(packed.at(result), value) <= 1e-5);
        }
    }
}
