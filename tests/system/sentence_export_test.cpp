// `export --format sentence-transformers`: sentence-transformers loads the folder without a warning and makes the vectors of
// `embed`.
#include "support/catch.h"
#include "system/modern_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// Three texts of the sample, an empty one, and one that is longer than the 64 tokens of the shards.
std::string some_texts() {
    std::string longer;
    for (int i = 0; i < 60; ++i) longer += "the river " + std::to_string(i) + " ";
    return "The sun is a star.\n\nWater freezes at zero degrees, and boils at a hundred; both depend on pressure.\n" + longer +
           "\n";
}

CommandResult one_thread_run(const std::string& arguments) {
    CommandResult result = run_command("env OMP_NUM_THREADS=1 " + train_program + " " + arguments);
    INFO(result.err);
    return result;
}

/// Exports with `options`, embeds by the run with the same, and by the export without. @returns what sentence_folder.py printed;
/// null where Python lacks a package
json loaded_export(const fs::path& run, const std::string& options, const fs::path& folder) {
    fs::create_directories(folder);
    const std::string exported = (folder / "exported").string(), text = (folder / "text").string();
    write_text(text, some_texts());
    REQUIRE(one_thread_run("export " + run.string() + " --format sentence-transformers --output " + exported + " " + options)
                .exit_code == 0);
    REQUIRE(one_thread_run("embed " + run.string() + " " + text + " --output " + (folder / "run.npy").string() + " " + options)
                .exit_code == 0);
    REQUIRE(one_thread_run("embed " + exported + " " + text + " --output " + (folder / "exported.npy").string()).exit_code == 0);
    CHECK((read_text(folder / "exported.npy") == read_text(folder / "run.npy")));
    const CommandResult loaded = run_command("env OMP_NUM_THREADS=1 " WARM_PYTHON " tests/system/sentence_folder.py " + exported +
                                             " " + text + " " + (folder / "run.npy").string());
    if (lacks_package(loaded)) return nullptr;
    INFO(loaded.err);
    REQUIRE(loaded.exit_code == 0);
    CHECK(loaded.err.find("newly initialized") == std::string::npos);
    CHECK(loaded.err.find("MISSING") == std::string::npos);
    CHECK(loaded.err.find("UNEXPECTED") == std::string::npos);
    return json::parse(loaded.out);
}

#define CHECK_LOADED(result, expected_modules)                                                   \
    do {                                                                                         \
        const json found = result;                                                               \
        if (found.is_null()) SKIP_TEST(skip::no_oracle, "no Python with sentence-transformers"); \
        CAPTURE(found.dump());                                                                   \
        CHECK(found.at("difference").get<double>() < 1e-6);                                      \
        CHECK(found.at("max_seq_length") == 64);                                                 \
        CHECK(found.at("modules") == (expected_modules));                                        \
        CHECK(found.at("said").empty());                                                         \
    } while (false)

}  // namespace

TEST_CASE("sentence-transformers loads an exported BERT without a warning, with embed's vectors and the trained length") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    CHECK_LOADED(loaded_export(finished_run().run, "", folder / "pooler"), 2);
    // masked words alone, so no pooler; 128 positions, of which 64 are trained
    const fs::path config =
        write_experiment(folder, {{"model", {{"max_position_embeddings", 128}}},
                                  {"data", {{"objective", "mlm"}, {"training_shards", shards_without_labels().string()}}},
                                  {"schedule", {{"total_steps", 3}}}});
    REQUIRE(train(config, folder / "run").exit_code == 0);
    CHECK_LOADED(loaded_export(folder / "run", "--vectors cls --normalize", folder / "no_pooler"), 3);
    CHECK_LOADED(loaded_export(folder / "no_pooler/exported", "--vectors mean", folder / "again"), 3);
    REQUIRE(train(config, folder / "pre_ln", "--set model.norm_placement=pre_ln").exit_code == 0);
    CHECK_LOADED(loaded_export(folder / "pre_ln", "--normalize", folder / "megatron"), 3);
    const CommandResult verified = one_thread_run("inspect --lineage " + (folder / "no_pooler/exported").string());
    INFO(verified.err << verified.out);
    CHECK(verified.exit_code == 0);
    CHECK(verified.out.find("1_Pooling/config.json") != std::string::npos);
}

TEST_CASE("sentence-transformers loads an exported ModernBERT without a warning, with embed's vectors") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    REQUIRE(train(modern_experiment(folder, {{"schedule", {{"total_steps", 3}}}, {"model", {{"max_position_embeddings", 128}}}}),
                  folder / "run")
                .exit_code == 0);
    CHECK_LOADED(loaded_export(folder / "run", "", folder / "mean"), 2);
    CHECK_LOADED(loaded_export(folder / "run", "--vectors cls --normalize", folder / "cls"), 3);
}

TEST_CASE("embed truncates to the length that the run trained on, and warns where more is asked for") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    REQUIRE(train(write_experiment(folder, {{"model", {{"max_position_embeddings", 128}}}, {"schedule", {{"total_steps", 3}}}}),
                  folder / "run")
                .exit_code == 0);
    write_text(folder / "text", some_texts());
    const std::string command = "embed " + (folder / "run").string() + " " + (folder / "text").string() + " --output " +
                                (folder / "vectors.npy").string();
    const CommandResult cut = one_thread_run(command);
    CHECK(missing_words(cut.err, {"1 of 4 lines are longer than 64 tokens"}) == "");
    fs::remove(folder / "vectors.npy");
    const CommandResult longer = one_thread_run(command + " --max-length 128");
    CHECK(longer.exit_code == 0);
    CHECK(missing_words(longer.err, {"--max-length 128", "trained on at most 64 tokens"}) == "");
    REQUIRE(
        one_thread_run("export " + (folder / "run").string() + " --format hf --output " + (folder / "hf").string()).exit_code ==
        0);
    CHECK(json::parse(read_text(folder / "hf/tokenizer_config.json")).at("model_max_length") == 64);
    CHECK(json::parse(read_text(folder / "hf/config.json")).at("max_position_embeddings") == 128);
}

TEST_CASE("options for vectors are refused for formats that do not record them, and a NeoBERT for sentence-transformers") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const CommandResult refused =
        one_thread_run("export " + finished_run().run.string() + " --format hf --normalize --output " + (folder / "hf").string());
    CHECK(refused.exit_code == 2);
    CHECK(missing_words(refused.err, {"--normalize", "sentence-transformers", "--format hf"}) == "");
    REQUIRE(train(neobert_experiment(folder, {{"schedule", {{"total_steps", 3}}}}), folder / "neo").exit_code == 0);
    const CommandResult neobert = one_thread_run("export " + (folder / "neo").string() +
                                                 " --format sentence-transformers --output " + (folder / "st").string());
    CHECK(neobert.exit_code == 2);
    CHECK(missing_words(neobert.err, {"NeoBERT", "--format hf"}) == "");
    CHECK_FALSE(fs::exists(folder / "st"));
    CHECK_FALSE(fs::exists(folder / "st.partial"));
}

TEST_CASE("an export of a model without a tokenizer says so, and one for sentence-transformers is refused") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path model = folder / "model";
    REQUIRE(one_thread_run("export " + finished_run().run.string() + " --format hf --output " + model.string()).exit_code == 0);
    for (const char* name : {"vocab.txt", "tokenizer.json", "tokenizer_config.json"}) fs::remove(model / name);
    write_text(model / "vocab.json", "{}");  // as in folders that older versions of transformers wrote
    write_text(model / "merges.txt", "#version: 0.2\n");
    const auto exported = [&](const std::string& format) {
        return one_thread_run("export " + model.string() + " --format " + format + " --output " + (folder / format).string());
    };
    const std::initializer_list<std::string> words = {model.string() + ": has no vocab.txt, tokenizer.json or tokenizer.model",
                                                      "AutoTokenizer.from_pretrained"};
    const CommandResult plain = exported("hf"), refused = exported("sentence-transformers");
    CHECK(plain.exit_code == 0);
    CHECK(missing_words(plain.err, words) == "");
    CHECK(missing_words(plain.err, {"so the export has no tokenizer either"}) == "");
    CHECK(refused.exit_code == 2);
    CHECK(missing_words(refused.err, words) == "");
    CHECK_FALSE(fs::exists(folder / "sentence-transformers"));
}
