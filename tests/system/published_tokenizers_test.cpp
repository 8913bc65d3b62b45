// From text to an export with tokenizers in the shapes of DNABERT, ESM-2, DNABERT-2 and Llama 2 (published_tokenizers.py).

#include <sstream>

#include "support/catch.h"
#include "system/refusal.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// Returns `tokenize`'s ids of each line, with the special tokens around them.
std::string ids_of_lines(const std::string& tokenizer, const std::string& text, const std::string& cls, const std::string& sep) {
    std::istringstream lines(successful(data_program + " tokenize --vocabulary " + tokenizer + " " + text).out);
    std::string ids;
    for (std::string line; std::getline(lines, line);) ids += cls + (line.empty() ? " " : " " + line + " ") + sep + "\n";
    return ids;
}

}  // namespace

TEST_CASE("tokenizers of models of DNA, proteins and Llama make shards, train and are exported with transformers' ids") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const CommandResult made = run_command(PYTHON " tests/system/published_tokenizers.py " + folder.path().string());
    if (lacks_package(made)) SKIP_TEST(skip::no_oracle, "no Python with the package tokenizers");
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    CHECK(made.out == "dnabert\nesm\ndnabert2\nllama\n");
    struct Roles {
        const char *name, *cls, *sep, *mask;
    };
    for (const auto& [name, cls, sep, mask] : {Roles{"dnabert", "2", "3", "[MASK]"},
                                               {"esm", "0", "2", "<mask>"},
                                               {"dnabert2", "2", "3", "[MASK]"},
                                               {"llama", "1", "2", "<mask>"}}) {
        INFO(name);
        const std::string tokenizer = folder / (std::string(name) + ".json"), text = folder / (std::string(name) + ".txt"),
                          shards = folder / (std::string(name) + "_shards"), run = folder / (std::string(name) + "_run"),
                          hf = folder / (std::string(name) + "_hf");
        successful(data_program + " shard " + text + " --vocabulary " + tokenizer + " --output " + shards +
                   " --documents empty-lines --lines sentences --objective mlm --name sample --sequence-length 64 --shards 2 "
                   "--held-out-shards 1 --mask-span 3");
        CHECK(successful(data_program + " check " + shards).err.find("[UNK]") == std::string::npos);
        const fs::path config = write_experiment(folder, {{"model", {{"vocab_size", "auto"}}},
                                                          {"data", {{"objective", "mlm"}, {"training_shards", shards}}},
                                                          {"schedule", {{"total_steps", 3}}}});
        const CommandResult trained = train(config, run, "--set data.masking=dynamic --set data.mask_span=3");
        INFO(trained.err);
        REQUIRE(trained.exit_code == 0);
        CHECK(read_text(fs::path(run) / "checkpoints/step_00000003/tokenizer.json") == read_text(tokenizer));
        successful("echo 'A" + std::string(mask) + "' | " + train_program + " predict " + run + " --json");
        successful(train_program + " export " + run + " --format hf --output " + hf);
        const std::string theirs = folder / "theirs";
        const CommandResult loaded =
            run_command(WARM_PYTHON " tests/system/hf_tokenizer_ids.py " + hf + " " + text + " " + theirs);
        if (lacks_package(loaded)) SKIP_TEST(skip::no_oracle, "no Python with torch and transformers");
        INFO(loaded.err);
        REQUIRE(loaded.exit_code == 0);
        CHECK(read_text(theirs) == ids_of_lines(hf + "/tokenizer.json", text, cls, sep));
        CHECK(ids_of_lines(hf + "/tokenizer.json", text, cls, sep) == ids_of_lines(tokenizer, text, cls, sep));
    }
}
