// Models of RoBERTa's class, read as BERT, compute what transformers computes, and so do their exports.
#include <ATen/ATen.h>
#include <nlohmann/json.hpp>

#include "archive/pt_reader.h"
#include "checkpoint/described_model.h"
#include "core/error.h"
#include "inference/export_model.h"
#include "inference/loaded_model.h"
#include "inference/whole_texts.h"
#include "model/small_model.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/files.h"
#include "support/made_once.h"
#include "support/skip.h"
#include "tokens/models/folder_tokenizer.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

CommandResult oracle(const std::string& arguments) {
    return run_command("env OMP_NUM_THREADS=1 " WARM_PYTHON " tests/inference/roberta_oracle.py " + arguments);
}

/// The folder that roberta_oracle.py filled; an empty one if Python lacks a package.
const fs::path& roberta_models() {
    static const fs::path made = made_once("roberta_models", [](const fs::path& folder) {
        const CommandResult result = oracle("make '" + folder.string() + "'");
        constexpr int no_package = 77;
        if (result.exit_code != 0 && result.exit_code != no_package) FAIL("roberta_oracle.py: " << result.err);
    });
    return made;
}

/// Checks our results against right.pt of the folder. @returns the names of the results
std::vector<std::string> check_results(const LoadedModel& model, const fs::path& folder) {
    const PtReader right(folder / "right.pt");
    const auto theirs = [&](const char* name) {
        const PtTensor& stored = *right.root().find(name)->tensor();
        const at::Tensor values = at::empty(stored.elements(), at::kFloat);
        right.read(stored, 0, stored.elements(), values.data_ptr<float>());
        return values;
    };
    const std::vector<std::int64_t> ids_T = values_of(theirs("ids").to(at::kLong));
    std::vector<std::vector<std::int32_t>> texts;
    auto next = ids_T.begin();
    for (const std::int64_t length : values_of(theirs("lengths").to(at::kLong))) {
        texts.emplace_back(next, next + length);
        next += length;
    }
    const MicroBatch batch = batch_of_texts(texts);
    std::vector<std::string> compared;
    const auto check_equal = [&](const char* name, const at::Tensor& ours) {
        CAPTURE(folder, name);
        CHECK((ours.flatten() - theirs(name)).abs().max().item<double>() < 1e-5);
        compared.emplace_back(name);
    };
    check_equal("hidden", model.model->encode(batch));
    if (right.root().find("mlm") != nullptr) check_equal("mlm", model.model->logits(batch).mlm_MV);
    if (right.root().find("pooled") != nullptr) check_equal("pooled", model.model->pool(model.model->encode_first(batch)));
    return compared;
}

/// Returns the message with which a config.json is refused that differs from the model's in these fields.
std::string refusal(const std::string& model, const json& changes) {
    json config = json::parse(read_text(roberta_models() / model / "config.json"));
    config.merge_patch(changes);
    const TemporaryFolder folder;
    write_text(folder / "config.json", config.dump());
    try {
        described_model(folder / "config.json");
    } catch (const CheckpointError& error) { return error.what(); }
    return "";
}

}  // namespace

#define NEEDS_ROBERTA() \
    if (fs::is_empty(roberta_models())) SKIP_TEST(skip::no_oracle, "no Python with the package transformers")

TEST_CASE("RoBERTa, XLM-R and CamemBERT compute transformers' logits, hidden states and pooled vectors, and so do exports",
          "[system]") {
    NEEDS_ROBERTA();
    const std::map<std::string, std::vector<std::string>> expected{
        {"roberta", {"hidden", "mlm"}},   {"xlm-roberta", {"hidden", "mlm"}}, {"camembert", {"hidden", "mlm"}},
        {"two_types", {"hidden", "mlm"}}, {"encoder", {"hidden", "pooled"}},  {"encoder_without_pooler", {"hidden"}}};
    for (const auto& [name, results] : expected) {
        CAPTURE(name);
        const LoadedModel model = load_model(roberta_models() / name, at::kFloat, at::kCPU);
        CHECK(shape_of(model.config).longest_sequence == 38);
        CHECK(check_results(model, roberta_models() / name) == results);

        const TemporaryFolder folder;
        export_model(model, "hf", folder / "exported");
        CHECK(check_results(load_model(folder / "exported", at::kFloat, at::kCPU), roberta_models() / name) == results);
        const CommandResult compared =
            oracle("compare " + (folder / "exported").string() + " " + (roberta_models() / name / "right.pt").string());
        INFO(compared.err);
        REQUIRE(compared.exit_code == 0);
        const json differences = json::parse(compared.out);
        CHECK(differences.size() == results.size());
        for (const double difference : differences) CHECK(difference < 1e-5);
    }
}

TEST_CASE("the tokenizers of RoBERTa and XLM-R give transformers' ids", "[system]") {
    NEEDS_ROBERTA();
    const json texts = json::parse(read_text(roberta_models() / "texts.json"));
    for (const auto& [name, ids] : texts["ids"].items()) {
        const auto tokenizer = open_folder_tokenizer(read_folder_tokenizer(roberta_models() / name).value());
        CAPTURE(name);
        for (std::size_t i = 0; i < texts["lines"].size(); ++i)
            CHECK(ids_of(*tokenizer, texts["lines"][i]) == ids[i].get<std::vector<std::int32_t>>());
    }
}

TEST_CASE("a config.json of RoBERTa's class is refused by the name of the field that changes what is computed", "[system]") {
    NEEDS_ROBERTA();
    CHECK(refusal("roberta", json::object()).empty());
    CHECK_THAT(refusal("roberta", {{"pad_token_id", 0}}), Catch::Contains("pad_token_id is 0") && Catch::Contains("expected 1"));
    CHECK_THAT(refusal("xlm-roberta", {{"position_embedding_type", "relative_key"}}),
               Catch::Contains("position_embedding_type is \"relative_key\""));
    CHECK_THAT(refusal("camembert", {{"is_decoder", true}}), Catch::Contains("is_decoder is true"));
    CHECK_THAT(refusal("camembert", {{"max_position_embeddings", 2}}), Catch::Contains("max_position_embeddings is 2"));
    CHECK_THAT(refusal("roberta", {{"model_type", "roberta-prelayernorm"}}), Catch::Contains("roberta-prelayernorm"));
}
