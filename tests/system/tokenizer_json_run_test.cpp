// From text to a model with a byte-level BPE: `vocabulary --model bpe`, `shard`, `train`, `export`, `predict`, `embed`.

#include <sstream>

#include "support/catch.h"
#include "system/refusal.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// Trains a BPE of 600 tokens and makes shards of packed sentences with it.
void make_byte_level_shards(const TemporaryFolder& folder) {
    const std::string text = sample_data().text.string(), tokenizer = (folder / "bpe.json").string();
    successful(data_program + " vocabulary " + text + " --model bpe --size 600 --output " + tokenizer);
    successful(data_program + " shard " + text + " --vocabulary " + tokenizer + " --output " + (folder / "shards").string() +
               " --objective mlm --name sample --sequence-length 64 --shards 2 --held-out-shards 1 --whole-word-masking");
}

json byte_level_run(const fs::path& shards) {
    return {{"model", {{"vocab_size", "auto"}}}, {"data", {{"objective", "mlm"}, {"training_shards", shards.string()}}}};
}

/// Returns `tokenize`'s ids of a text with [CLS] and [SEP] around each line, whose ids are 2 and 3.
std::string ids_of_lines(const fs::path& tokenizer, const fs::path& text) {
    std::istringstream lines(successful(data_program + " tokenize --vocabulary " + tokenizer.string() + " " + text.string()).out);
    std::string ids;
    for (std::string line; std::getline(lines, line);) ids += "2 " + line + (line.empty() ? "3\n" : " 3\n");
    return ids;
}

}  // namespace

TEST_CASE("a run on a byte-level BPE carries it, and transformers loads the export with the same ids and guesses") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    make_byte_level_shards(folder);
    const fs::path config = write_experiment(folder, byte_level_run(folder / "shards")), run = folder / "run";
    const CommandResult trained = train(config, run, "--set data.masking=dynamic --set data.whole_word_masking=true");
    INFO(trained.err);
    REQUIRE(trained.exit_code == 0);
    const fs::path checkpoint = run / "checkpoints/step_00000020";
    CHECK(read_text(checkpoint / "tokenizer.json") == read_text(folder / "bpe.json"));
    CHECK_FALSE(fs::exists(checkpoint / "vocab.txt"));
    successful(train_program + " evaluate " + run.string() + " --shards " + (folder / "shards").string());

    write_text(folder / "texts", "The [MASK] of the sample.\nZo\u00e9 [MASK] [MASK] 42 \u65e5\u672c!\nIt is [MASK], too\n");
    const std::string model = run.string(), texts = (folder / "texts").string(), hf = (folder / "hf").string();
    successful(train_program + " predict " + model + " --json --top 600 < " + texts + " > " + (folder / "predicted").string());
    successful("cat " + texts + " | " + train_program + " embed " + model + " - --output " + (folder / "ours.npy").string());
    successful(train_program + " export " + model + " --format hf --output " + hf);
    successful("cat " + texts + " | " + train_program + " embed " + hf + " - --output " + (folder / "hf.npy").string());
    CHECK(read_text(folder / "ours.npy") == read_text(folder / "hf.npy"));

    const CommandResult loaded = run_command(WARM_PYTHON " tests/system/hf_tokenizer_ids.py " + hf + " " +
                                             sample_data().text.string() + " " + (folder / "theirs").string());
    if (lacks_package(loaded)) SKIP_TEST(skip::no_oracle, "no Python with torch and transformers");
    INFO(loaded.err);
    REQUIRE(loaded.exit_code == 0);
    CHECK(json::parse(loaded.out) == json{{"class", "BertForMaskedLM"},
                                          {"pad_token_id", 0},
                                          {"mask_token_id", 4},
                                          {"config_pad_token_id", 0},
                                          {"largest_length", 64}});
    CHECK(read_text(folder / "theirs") == ids_of_lines(folder / "hf/tokenizer.json", sample_data().text));
    const CommandResult compared = run_command("env OMP_NUM_THREADS=1 " WARM_PYTHON " tests/system/hf_fill_mask.py " + hf + " " +
                                               (folder / "predicted").string());
    INFO(compared.err);
    REQUIRE(compared.exit_code == 0);
    CHECK(json::parse(compared.out).at("masks") == 4);
    CHECK(json::parse(compared.out).at("largest_difference").get<double>() < 1e-5);
    const std::string table = successful(train_program + " predict " + model + " 'The [MASK] of it' --top 600").out;
    CHECK(table.find("\" the\" ") != std::string::npos);  // with its space, not as \u0120the
    CHECK(table.find("\u0120") == std::string::npos);
}

TEST_CASE("a run on a byte-level BPE is the same after a resume, and another run begins with its weights and tokenizer") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    make_byte_level_shards(folder);
    const std::string dynamic = "--set data.masking=dynamic ";
    json patch = byte_level_run(folder / "shards");
    const fs::path config = write_experiment(folder, patch);
    REQUIRE(train(config, folder / "whole", dynamic).exit_code == 0);
    fs::copy(folder / "whole", folder / "resumed", fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    REQUIRE(train(config, folder / "resumed", dynamic + "--resume 9").exit_code == 0);
    CHECK(first_difference(numbers_of(folder / "resumed"), numbers_of(folder / "whole")) == "");
    patch["initialization"] = {{"init_from", (folder / "whole").string()}};
    const CommandResult begun =
        train(write_experiment(folder, patch), folder / "begun", dynamic + "--set schedule.total_steps=1");
    INFO(begun.err);
    REQUIRE(begun.exit_code == 0);
    CHECK(read_text(folder / "begun/checkpoints/step_00000001/tokenizer.json") == read_text(folder / "bpe.json"));
    patch["data"]["vocabulary"] = sample_data().vocabulary.string();
    const CommandResult refused = train(write_experiment(folder, patch), folder / "other", dynamic);
    CHECK(refused.exit_code == 3);
    CHECK(missing_words(refused.err, {"vocab.txt", "is not the vocabulary", (folder / "shards").string()}) == "");
}

TEST_CASE("a tokenizer.json is refused by one message where it lacks a role, or where an option contradicts it") {
    const TemporaryFolder folder;
    const std::string text = sample_data().text.string();
    successful(data_program + " vocabulary " + text + " --model bpe --size 300 --output " + (folder / "bpe.json").string());
    json definition = json::parse(read_text(folder / "bpe.json"));
    definition["added_tokens"].erase(4);
    definition["model"]["vocab"]["[nothing]"] = 4;
    definition["model"]["vocab"].erase("[MASK]");
    write_text(folder / "maskless.json", definition.dump());
    const auto shard = [&](const std::string& name, const std::string& options = "") {
        return run_command(data_program + " shard " + text + " --vocabulary " + (folder / name).string() + " --output " +
                           (folder / "shards").string() + " --objective mlm" + options);
    };
    const CommandResult maskless = shard("maskless.json");
    CHECK(maskless.exit_code == 2);
    CHECK(missing_words(maskless.err, {"maskless.json: has no token for the role mask", "<mask>"}) == "");
    for (const std::string option : {" --cased", " --rules google"}) {
        const CommandResult refused = shard("bpe.json", option);
        CHECK(refused.exit_code == 2);
        CHECK(missing_words(refused.err, {option.substr(1, option.find(' ', 1) - 1), "tokenizer.json"}) == "");
    }
    const CommandResult extended = run_command(data_program + " vocabulary " + text + " --extend " +
                                               (folder / "bpe.json").string() + " --add 5 --output " + (folder / "x").string());
    CHECK(extended.exit_code == 2);
    CHECK(missing_words(extended.err, {"--extend", "tokenizer.json"}) == "");
    CHECK_FALSE(fs::exists(folder / "shards"));
}
