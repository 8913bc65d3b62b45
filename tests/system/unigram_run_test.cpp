// From the folder of an XLM-R to shards, a run that starts from its weights, vectors and an export.

#include <nlohmann/json.hpp>

#include "support/catch.h"
#include "system/refusal.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

CommandResult python(const std::string& arguments) {
    return run_command("env OMP_NUM_THREADS=1 " WARM_PYTHON " tests/system/unigram_folders.py " + arguments);
}

}  // namespace

TEST_CASE("an XLM-R's folder makes shards, is trained further and embeds text, with transformers' ids and vectors") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const CommandResult made = python("model " + folder.path().string());
    if (lacks_package(made)) SKIP_TEST(skip::no_oracle, "no Python with transformers and sentencepiece");
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    const std::string model = folder / "saved", shards = folder / "shards", text = folder / "text", run = folder / "run",
                      hf = folder / "hf";
    write_text(text, "The river is long.\nLa rivi\u00e8re: \ufb01n <mask> \u6cb3\u306f\u9577\u3044\ne\u0301 \u2581 x  y\n");
    const auto check_vectors = [&](const std::string& of, const std::string& ours) {
        successful(train_program + " embed " + of + " " + text + " --output " + ours);
        const CommandResult compared = python("compare " + (of == run ? hf : of) + " " + text + " " + ours);
        INFO(compared.err);
        REQUIRE(compared.exit_code == 0);
        CHECK(json::parse(compared.out).get<double>() < 1e-5);
    };
    check_vectors(model, folder / "model.npy");

    successful(data_program + " shard " + sample_data().text.string() + " --vocabulary " + model + " --output " + shards +
               " --objective mlm --name sample --sequence-length 64 --shards 2 --held-out-shards 1 --whole-word-masking");
    CHECK(read_text(fs::path(shards) / "tokenizer.json") == read_text(fs::path(model) / "tokenizer.json"));
    const fs::path config = write_experiment(folder, {{"model", nullptr},
                                                      {"data", {{"training_shards", shards}, {"objective", "mlm"}}},
                                                      {"initialization", {{"init_from", model}}},
                                                      {"schedule", {{"total_steps", 4}}}});
    const CommandResult trained = train(config, run, "--set data.masking=dynamic --set data.whole_word_masking=true");
    INFO(trained.err);
    REQUIRE(trained.exit_code == 0);
    CHECK(trained.err.find("tokenizer has another") == std::string::npos);

    successful(train_program + " export " + run + " --format hf --output " + hf);
    check_vectors(run, folder / "run.npy");
    check_vectors(hf, folder / "hf.npy");
    const CommandResult asked = successful("echo 'The <mask> is long.' | " + train_program + " predict " + run + " --json");
    CHECK(json::parse(asked.out).dump().find("mask") != std::string::npos);
}

TEST_CASE("an export of an XLM-R's folder keeps its tokenizer, whose class it names where only the model's type did") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const CommandResult made = python("model " + folder.path().string());
    if (lacks_package(made)) SKIP_TEST(skip::no_oracle, "no Python with transformers and sentencepiece");
    REQUIRE(made.exit_code == 0);
    write_text(folder / "saved/tokenizer_config.json", R"({"model_max_length": 64})");  // as the published folder says
    const std::string text = folder / "text";
    write_text(text, "The river is long.\n  two  spaces \u2581 \ufb01n<mask>\n");
    successful(train_program + " export " + (folder / "saved").string() + " --format hf --output " + (folder / "hf").string());
    for (const std::string name : {"saved", "hf"})
        REQUIRE(python("ids " + (folder / name).string() + " " + text + " " + (folder / (name + ".ids")).string()).exit_code ==
                0);
    CHECK(read_text(folder / "hf.ids") == read_text(folder / "saved.ids"));
    CHECK(json::parse(read_text(folder / "hf/tokenizer_config.json"))["tokenizer_class"] == "XLMRobertaTokenizer");
}
