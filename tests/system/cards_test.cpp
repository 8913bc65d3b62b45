// The cards beside exported models and shards: huggingface_hub reads them, and their numbers are those of the run.
#include <sstream>

#include "support/catch.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

std::vector<json> read_cards(const std::string& files) {
    const CommandResult read = run_command(PYTHON " tests/system/read_cards.py " + files);
    if (lacks_package(read)) return {};
    INFO(read.err);
    REQUIRE(read.exit_code == 0);
    std::vector<json> cards;
    std::istringstream lines(read.out);
    for (std::string line; std::getline(lines, line);) cards.push_back(json::parse(line));
    return cards;
}

void export_run(const std::string& format, const fs::path& output) {
    const CommandResult done = run_command(train_program + " export " + finished_run().run.string() + " --format " + format +
                                           " --output " + output.string());
    INFO(done.err);
    REQUIRE(done.exit_code == 0);
}

}  // namespace

TEST_CASE("huggingface_hub reads the cards of exports, whose results are those that the run measured") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    export_run("hf", folder / "model");
    export_run("sentence-transformers", folder / "vectors");
    const auto cards = read_cards((folder / "model/README.md").string() + " " + (folder / "vectors/README.md").string());
    if (cards.empty()) SKIP_TEST(skip::no_oracle, "no Python with huggingface_hub, yaml and markdown");
    json last;
    for (const std::string& line : lines_so_far(finished_run().run / "metrics.jsonl"))
        if (const json record = json::parse(line); record.contains("held_out_mlm_loss")) last = record;
    REQUIRE(cards.size() == 2);
    CHECK(cards[0].at("library") == "transformers");
    CHECK(cards[0].at("pipeline") == "fill-mask");
    CHECK(cards[1].at("library") == "sentence-transformers");
    CHECK(cards[1].at("pipeline") == "sentence-similarity");
    for (const json& card : cards) {
        CAPTURE(card.dump());
        CHECK(card.at("licence") == "choose-a-licence");
        const json& metrics = card.at("metrics");
        CHECK(std::abs(metrics.at("cross-entropy of masked tokens, in nats").get<double>() -
                       last.at("held_out_mlm_loss").get<double>()) < 1e-4);
        CHECK(std::abs(metrics.at("accuracy of masked tokens").get<double>() - last.at("held_out_mlm_accuracy").get<double>()) <
              1e-4);
        CHECK(std::abs(metrics.at("accuracy of next sentences").get<double>() - last.at("held_out_nsp_accuracy").get<double>()) <
              1e-4);
        CHECK(card.at("tables") == 3);    // results, recipe, data
        CHECK(card.at("headings") == 5);  // use, results, training, data, licence
    }
    const std::string text = read_text(folder / "model/README.md");
    CHECK(
        missing_words(text, {"BertForPreTraining.from_pretrained(\"model\")", "| steps | 20 |", "| sequences trained on | 160 |",
                             "SHA-256", "| optimizer |", "computed by", "trained on shards"}) == "");
    CHECK(text.find(sample_data().folder.string()) == std::string::npos);  // no folders of this machine
}

TEST_CASE("shard writes a dataset card that huggingface_hub reads, and leaves one with a licence as it is") {
    const TemporaryFolder folder;
    const std::string shards = (folder / "my shards").string();
    const std::string command = data_program + " shard " + sample_data().text.string() + " --vocabulary " +
                                sample_data().vocabulary.string() + " --output '" + shards +
                                "' --sequence-length 64 --shards 2 --held-out-shards 1 --name sample";
    REQUIRE(run_command(command).exit_code == 0);
    const fs::path card = folder / "my shards/README.md";
    const auto cards = read_cards("'" + card.string() + "'");
    if (cards.empty()) SKIP_TEST(skip::no_oracle, "no Python with huggingface_hub, yaml and markdown");
    CHECK(cards[0].at("name") == "sample");  // not the folder, so that equal shards have equal cards
    CHECK(cards[0].at("licence") == "choose-a-licence");
    CHECK(cards[0].at("tables") == 1);
    CHECK(cards[0].at("headings") == 3);
    const json totals = json::parse(read_text(folder / "my shards/manifest.json")).at("totals");
    CHECK(read_text(card).find("| training | 2 files, ") != std::string::npos);
    CHECK(totals.at("training").at("shards") == 2);
    CHECK(run_command(data_program + " check '" + shards + "'").exit_code == 0);
    write_text(card, "---\nlicense: mit\n---\nmine\n");
    REQUIRE(run_command(command + " --overwrite").exit_code == 0);
    CHECK(read_text(card) == "---\nlicense: mit\n---\nmine\n");
}

TEST_CASE("the card of a model of another program says how to use it, without a run") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    export_run("hf", folder / "first");
    REQUIRE(run_command(train_program + " export " + (folder / "first").string() + " --format hf --output " +
                        (folder / "second").string())
                .exit_code == 0);
    const auto cards = read_cards((folder / "second/README.md").string());
    if (cards.empty()) SKIP_TEST(skip::no_oracle, "no Python with huggingface_hub, yaml and markdown");
    CHECK(cards[0].at("metrics").empty());
    CHECK(cards[0].at("headings") == 2);
}

TEST_CASE("a card names every held-out folder of its score, and the runs and checkpoints that the model started from") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path first = sample_data().shards, second = folder / "other shards";
    fs::copy(first, second, fs::copy_options::recursive);
    const auto started = write_experiment(
        folder,
        {{"data", {{"training_shards", {{{"path", first.string()}, {"weight", 1}}, {{"path", second.string()}, {"weight", 1}}}}}},
         {"initialization", {{"init_from", finished_run().run.string()}}},
         {"schedule", {{"total_steps", 2}}},
         {"evaluation", {{"every_steps", 2}}}});
    const CommandResult trained = train(started, folder / "run");
    INFO(trained.err);
    REQUIRE(trained.exit_code == 0);
    const auto run = [](const std::string& command) {
        const CommandResult done = run_command(train_program + " " + command);
        INFO(done.err);
        REQUIRE(done.exit_code == 0);
    };
    run("export " + (folder / "run").string() + " --format hf --output " + (folder / "model").string());
    const std::string card = read_text(folder / "model/README.md");
    CAPTURE(card);
    CHECK(missing_words(card, {" and other shards",
                               "| started from | " + finished_run().run.filename().string() + ", step_00000020 |"}) == "");
    run("average --steps 12,15,20 " + finished_run().run.string() + " --output " + (folder / "mean").string());
    run("export " + (folder / "mean").string() + " --format hf --output " + (folder / "of_mean").string());
    CHECK(missing_words(read_text(folder / "of_mean/README.md"), {"of the run mean", ", step_00000015 |"}) == "");
}
