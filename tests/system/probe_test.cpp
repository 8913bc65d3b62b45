// `evaluate --probe`: a labelled task judged with a model's vectors, as scikit-learn judges the same vectors.
#include <cmath>
#include <sstream>

#include "support/catch.h"
#include "system/labelled_sentences.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

CommandResult probe(const fs::path& task, const std::string& options) {
    return run_command("env OMP_NUM_THREADS=1 " + train_program + " evaluate " + finished_run().run.string() + " --probe " +
                       task.string() + " " + options);
}

}  // namespace

TEST_CASE("a probe has scikit-learn's accuracy, macro-F1 and strengths on the same vectors") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::int64_t lines = write_labelled_sentences(folder / "task.tsv");
    const CommandResult ours = probe(folder / "task.tsv", "--json");
    INFO(ours.err);
    REQUIRE(ours.exit_code == 0);
    const json found = json::parse(ours.out);
    CHECK(found.at("step") == 20);
    const json& scores = found.at("probe");
    CHECK(scores.at("examples") == lines);
    CHECK(scores.at("labels") == 3);
    CHECK(scores.at("accuracy").get<double>() > scores.at("most_frequent_label").get<double>());
    CHECK(scores.at("accuracy_interval").at(0) < scores.at("accuracy"));
    CHECK(scores.at("accuracy_interval").at(1) > scores.at("accuracy"));

    const std::string vectors = (folder / "vectors.npy").string();
    REQUIRE(run_command("cut -f 2- " + (folder / "task.tsv").string() + " | env OMP_NUM_THREADS=1 " + train_program + " embed " +
                        finished_run().run.string() + " - --output " + vectors)
                .exit_code == 0);
    const CommandResult theirs = run_command("env OMP_NUM_THREADS=1 " WARM_PYTHON " tests/system/sklearn_probe.py " +
                                             (folder / "task.tsv").string() + " " + vectors);
    if (lacks_package(theirs)) SKIP_TEST(skip::no_oracle, "no Python with scikit-learn");
    INFO(theirs.err);
    REQUIRE(theirs.exit_code == 0);
    const json right = json::parse(theirs.out);
    CAPTURE(scores.dump(), right.dump());
    // Both end near the same minimum. An example on the border between two classes may fall on either side.
    const double border = 2.0 / static_cast<double>(lines);
    CHECK(std::fabs(scores.at("accuracy").get<double>() - right.at("accuracy").get<double>()) <= border);
    CHECK(std::fabs(scores.at("macro_f1").get<double>() - right.at("macro_f1").get<double>()) <= 2 * border);
}

TEST_CASE("a probe of several checkpoints gives the same numbers for any number of ranks, also beside shards") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    write_labelled_sentences(folder / "task.tsv");
    const std::string early = (finished_run().run / "checkpoints" / "step_00000003").string();
    const auto curve = [&](const std::string& options) {
        const CommandResult result = probe(folder / "task.tsv", early + " --json " + options);
        INFO(result.err);
        REQUIRE(result.exit_code == 0);
        std::vector<json> scores;
        std::istringstream lines(result.out);
        for (std::string line; std::getline(lines, line);) {
            scores.push_back(json::parse(line));
            scores.back().at("probe").erase("seconds");
        }
        REQUIRE(scores.size() == 2);
        return scores;
    };
    const std::vector<json> alone = curve("");
    CHECK(curve("--local-ranks 3") == alone);
    const std::vector<json> both = curve("--shards " + sample_data().shards.string());
    for (std::size_t i = 0; i < alone.size(); ++i) {
        CHECK(both[i].at("probe") == alone[i].at("probe"));
        CHECK(both[i].contains("mlm_loss"));
    }
    const CommandResult table = probe(folder / "task.tsv", "");
    CHECK(missing_words(table.out, {"probe accuracy", "probe macro-F1", "most frequent label"}) == "");
}

TEST_CASE("a task that cannot be one ends with exit 3 and one message, and nothing to measure with exit 2") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    write_text(folder / "task.tsv", "label\ttext\nspam\tBuy it.\n");
    const CommandResult refused = probe(folder / "task.tsv", "");
    CHECK(refused.exit_code == 3);
    CHECK(missing_words(refused.err, {"task.tsv", "line 1", "\"label\" has 1 example", "expected at least 5", "header"}) == "");
    const CommandResult ranks = probe(folder / "task.tsv", "--local-ranks 2");
    CHECK(ranks.exit_code == 3);
    CHECK(probe(folder / "missing.tsv", "").exit_code == 3);
    const std::string model = (folder / "hf").string();  // an export does not know the run's shards
    REQUIRE(run_command(train_program + " export " + finished_run().run.string() + " --format hf --output " + model).exit_code ==
            0);
    const CommandResult nothing = run_command(train_program + " evaluate " + model);
    CHECK(nothing.exit_code == 2);
    CHECK(missing_words(nothing.err, {"--shards", "--probe"}) == "");
}

TEST_CASE("probe, embed and a run's own probe cut texts at the length that the run trains on; predict warns beyond it") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    write_labelled_sentences(folder / "task.tsv");
    std::string words = "the";
    for (int i = 0; i < 100; ++i) words += " the";
    write_text(folder / "task.tsv", read_text(folder / "task.tsv") + "plain\t" + words + "\n");
    const fs::path config =
        write_experiment(folder, {{"model", {{"max_position_embeddings", 128}}},
                                  {"schedule", {{"total_steps", 2}}},
                                  {"evaluation", {{"every_steps", 2}, {"probe", (folder / "task.tsv").string()}}}});
    const CommandResult trained = train(config, folder / "run");
    INFO(trained.err);
    REQUIRE(trained.exit_code == 0);
    double in_run = 0;
    for (const std::string& line : lines_so_far(folder / "run/metrics.jsonl"))
        if (const json record = json::parse(line); record.contains("probe_accuracy")) in_run = record.at("probe_accuracy");
    const auto of_run = [&](const std::string& command) {
        return run_command("env OMP_NUM_THREADS=1 " + train_program + " " + command);
    };
    const std::string run = (folder / "run").string();
    const CommandResult judged = of_run("evaluate " + run + " --json --probe " + (folder / "task.tsv").string());
    CHECK(missing_words(judged.err, {" texts are longer than 64 tokens and were truncated"}) == "");
    CHECK(std::fabs(json::parse(judged.out).at("probe").at("accuracy").get<double>() - in_run) < 0.02);
    write_text(folder / "texts", words + "\n");
    const CommandResult embedded = of_run("embed " + run + " " + (folder / "texts").string() + " --output " + run + ".npy");
    CHECK(missing_words(embedded.err, {"longer than 64"}) == "");
    const CommandResult predicted = of_run("predict " + run + " '" + words + " [MASK]'");
    CHECK(predicted.exit_code == 0);
    CHECK(missing_words(predicted.err, {"1 text is longer than the 64 tokens that the run trained on"}) == "");
    CHECK(of_run("predict " + run + " 'the [MASK]'").err.find("longer than") == std::string::npos);
}
