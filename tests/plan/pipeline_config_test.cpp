// The settings of the production loop.
#include "plan/pipeline_config.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/contains.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// Returns the message about a pipeline's file with this text; "" if it is accepted.
std::string message_about(const std::string& text) {
    const TemporaryFolder folder;
    write_text(folder / "pipeline.json", text);
    try {
        load_pipeline(folder / "pipeline.json");
        return "";
    } catch (const ConfigError& error) { return error.what(); }
}

/// Returns the message about a good pipeline with this JSON merge patch.
std::string message_with(const nlohmann::json& patch) {
    nlohmann::json pipeline = {{"experiment", PROJECT_FOLDER "/configs/small.json"},
                               {"models", "models"},
                               {"data", {{"training_shards", "shards"}}},
                               {"evaluation", {{"held_out_shards", "shards"}}}};
    pipeline.merge_patch(patch);
    return message_about(pipeline.dump());
}

}  // namespace

TEST_CASE("the pipeline's settings are all described, and the example's file has no others") {
    CHECK(fully_described<PipelineConfig>());
    std::filesystem::current_path(PROJECT_FOLDER);  // the example names its experiment as seen from the checkout
    CHECK(load_pipeline("configs/pipeline.json").models == "models");
    CHECK(message_with(nlohmann::json::object()) == "");
}

TEST_CASE(
    "a pipeline's mistyped or former names, types and missing settings are refused together, with the name that was meant") {
    const std::string message = message_with({{"modls", "x"},
                                              {"held_out", "x"},
                                              {"ranks", "two"},
                                              {"evaluation", {{"held_out_shards", nullptr}, {"tolerence", 0.1}}},
                                              {"export", {{"formats", {"hf", "onnx"}}}}});
    INFO(message);
    for (const std::string part :
         {"modls: no such setting; did you mean models?", "held_out: no such setting; did you mean evaluation.held_out_shards?",
          "ranks = \"two\": must be an integer", "evaluation.tolerence: no such setting; did you mean evaluation.tolerance?",
          "evaluation.held_out_shards: is not set", "export.formats[1] = \"onnx\": must be one of"})
        CHECK(contains(message, part));
}

TEST_CASE("a file of shell assignments is refused with the settings that replace them") {
    const std::string message = message_about("# what to do\n\nexperiment=configs/small.json   # how\nshards=shards\n");
    INFO(message);
    CHECK(contains(message, "holds shell assignments; expected JSON"));
    CHECK(contains(message, "data.training_shards (was shards)"));
    CHECK(contains(message_about("{\"experiment\": "), "line 1"));  // JSON with an error is not taken for one
}

TEST_CASE("a pipeline has exactly one source of data, and options of `shard` only with a folder of texts") {
    CHECK(contains(message_with({{"data", {{"command", "make"}}}}), "2 of training_shards, command and text_folder are set"));
    CHECK(contains(message_with({{"data", {{"training_shards", nullptr}}}}), "0 of training_shards, command and text_folder"));
    CHECK(contains(message_with({{"data", {{"shard_options", {"--threads", "1"}}}}}), "no effect without data.text_folder"));
}

TEST_CASE("an option of `shard` and its value are two texts of a pipeline's list") {
    const auto message = [](const nlohmann::json& options) {
        return message_with({{"data", {{"training_shards", nullptr}, {"text_folder", "texts"}, {"shard_options", options}}}});
    };
    CHECK(message({"--vocabulary", "my vocab.txt", "--name=a b", "--cased"}) == "");
    const std::string joined = message({"--vocabulary vocab.txt --sequence-length 64"});
    CHECK(contains(joined, "data.shard_options: \"--vocabulary vocab.txt --sequence-length 64\" is several words"));
    CHECK(contains(joined, "[\"--vocabulary\", \"VALUE\", ...]"));
    CHECK(contains(message("--vocabulary vocab.txt"), "must be a list"));
}

TEST_CASE("a pipeline's held-out shards and its texts to embed must be there, unless they are in an object store") {
    const TemporaryFolder folder;
    const auto message = [&](const std::string& held_out, const std::string& text) -> std::string {
        PipelineConfig pipeline;
        pipeline.evaluation.held_out_shards = held_out;
        pipeline.embedding.text = text;
        try {
            check_pipeline_paths(pipeline, "pipeline.json");
            return "";
        } catch (const ConfigError& error) { return error.what(); }
    };
    write_text(folder / "texts.txt", "a text\n");
    const std::string is_there = folder.path().string(), text = (folder / "texts.txt").string();
    CHECK(message(is_there, text) == "");
    CHECK(message("s3://bucket/shards", text) == "");
    CHECK(message("s3://bucket/shards", "s3://bucket/texts/") == "");
    CHECK(message(is_there, is_there) == "");
    CHECK(contains(message("nowhere", is_there),
                   "evaluation.held_out_shards = \"nowhere\": is no folder; check the path. A relative path"));
    CHECK(contains(message(is_there, "none.txt"), "embedding.text = \"none.txt\": is no file or folder; check the path"));
}

TEST_CASE("a pipeline's experiment is checked with its changes, before any stage runs") {
    CHECK(contains(message_with({{"experiment", "/nowhere.json"}}), "/nowhere.json: no such settings file"));
    CHECK(
        contains(message_with({{"training", {{"set", {"optimizer.learning_rat=1"}}}}}), "did you mean optimizer.learning_rate?"));
    const nlohmann::json zero_residual = {{"training", {{"set", {"model.norm_placement=pre_ln_zero_residual"}}}}};
    CHECK(contains(message_with(zero_residual), "export.formats: \"hf\" is not available"));
}
