// `predict`: the words at [MASK] are those of transformers' fill-mask pipeline.
#include <sstream>

#include "support/catch.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// Returns sentences of the sample, one or two of whose words are [MASK], each at most 60 words long. @param count of sentences
std::string masked_sentences(int count) {
    std::istringstream text(read_text(sample_data().text));
    std::string masked;
    for (std::string line; count > 0 && std::getline(text, line);) {
        std::vector<std::string> words;
        std::istringstream in(line);
        for (std::string word; in >> word;) words.push_back(word);
        if (words.size() < 4 || words.size() > 20) continue;
        words[words.size() / 2] = "[MASK]";
        if (count % 3 == 0) words[1] = "[MASK]";
        for (const std::string& word : words) masked += word + " ";
        masked.back() = '\n';
        --count;
    }
    return masked;
}

std::string predict(const std::string& rest) {
    return "env OMP_NUM_THREADS=1 " + train_program + " predict " + finished_run().run.string() + " " + rest;
}

}  // namespace

TEST_CASE("200 sentences get the guesses of transformers' fill-mask pipeline") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    write_text(folder / "texts", masked_sentences(200));
    const CommandResult ours =
        run_command(predict("--json < " + (folder / "texts").string() + " > " + (folder / "predicted").string()));
    INFO(ours.err);
    REQUIRE(ours.exit_code == 0);
    REQUIRE(run_command(train_program + " export " + finished_run().run.string() + " --format hf --output " +
                        (folder / "hf").string())
                .exit_code == 0);
    const CommandResult compared = run_command("env OMP_NUM_THREADS=1 " WARM_PYTHON " tests/system/hf_fill_mask.py " +
                                               (folder / "hf").string() + " " + (folder / "predicted").string());
    if (lacks_package(compared)) SKIP_TEST(skip::no_oracle, "no Python with torch and transformers");
    INFO(compared.err);
    REQUIRE(compared.exit_code == 0);
    const json found = json::parse(compared.out);
    CAPTURE(found.dump());
    CHECK(found.at("masks") == 266);  // 66 sentences have two
    CHECK(found.at("largest_difference").get<double>() < 1e-5);
    // Both sides compute in fp32, in another order: tokens whose probabilities are nearly equal may change places.
    CHECK(found.at("largest_missed").get<double>() < 1e-5);
}

TEST_CASE("predict prints each sentence with its guesses, as many as --top asks for") {
    NEEDS_TRAIN();
    const CommandResult one = run_command(predict("'the [MASK] of the river' --top 3 2>/dev/null"));
    REQUIRE(one.exit_code == 0);
    std::istringstream lines(one.out);
    std::string sentence, guesses, more;
    std::getline(lines, sentence);
    std::getline(lines, guesses);
    CHECK(sentence == "the [MASK] of the river");
    CHECK(std::count(guesses.begin(), guesses.end(), '%') == 3);
    CHECK_FALSE(std::getline(lines, more));

    const CommandResult all = run_command(predict("'a [MASK] b' --top 100000 --json"));
    REQUIRE(all.exit_code == 0);
    const json guessed = json::parse(all.out).at("masks").at(0).at("guesses");
    CHECK(guessed.size() == 800);  // the whole vocabulary
    double sum = 0;
    for (const json& guess : guessed) sum += guess.at("probability").get<double>();
    CHECK(sum == Approx(1));
}

TEST_CASE("a sentence without [MASK], or longer than the model's positions, is refused by its line") {
    NEEDS_TRAIN();
    const CommandResult without = run_command(predict("'a [MASK]' 'no mask'"));
    CHECK(without.exit_code == 2);
    CHECK(missing_words(without.err, {"line 2", "[MASK]"}) == "");
    std::string words = "[MASK]";
    for (int i = 0; i < 100; ++i) words += " the";
    const CommandResult longer = run_command("echo '" + words + "' | " + predict("-"));
    CHECK(longer.exit_code == 2);
    CHECK(missing_words(longer.err, {"standard input", "line 1", "64 positions"}) == "");
}

TEST_CASE("predict warns of words that the model reads as [UNK]") {
    NEEDS_TRAIN();
    const CommandResult known = run_command(predict("'the [MASK] of the river'"));
    CHECK(known.exit_code == 0);
    CHECK(known.err.find("[UNK]") == std::string::npos);
    const CommandResult unknown = run_command(predict("'the [MASK] of \u6f22'"));
    CHECK(unknown.exit_code == 0);
    CHECK(unknown.err.find("1 of the 3 tokens are [UNK], for example in \"the [MASK] of \u6f22\"") != std::string::npos);
}

TEST_CASE("predict and evaluate end with exit 6 where the model gives no finite numbers") {
    NEEDS_TRAIN();
    if (run_command(WARM_PYTHON " -c 'import torch'").exit_code != 0) SKIP_TEST(skip::no_oracle, "no Python with torch");
    const TemporaryFolder folder;
    copy_finished_run(folder / "run");
    const std::string step = (folder / "run/checkpoints/step_00000018").string();
    REQUIRE(run_command(WARM_PYTHON " tests/system/spoil_weights.py " + step + " 3e38").exit_code == 0);
    const std::vector<std::string> commands{"predict " + step + " 'The [MASK] waits.'",
                                            "predict --json " + step + " 'The [MASK] waits.'",
                                            "evaluate " + step + " --shards " + sample_data().shards.string()};
    for (const std::string& command : commands) {
        const CommandResult refused = run_command(train_program + " " + command);
        CAPTURE(command, refused.err);
        CHECK(refused.exit_code == 6);
        CHECK(missing_words(refused.err, {"not finite", "do: check that the model is undamaged"}) == "");
    }
}
