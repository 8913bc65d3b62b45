// Training on several sources with weights.
#include "batches/mixture.h"
#include "checkpoint/checkpoint_store.h"
#include "core/error.h"
#include "distributed/ranks.h"
#include "support/catch.h"
#include "support/made_once.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using nlohmann::json;

namespace {

/// Two folders of shards with one vocabulary, made from the odd and the even documents of the sample text.
struct TwoSources {
    std::filesystem::path odd, even;
};

void make_shards(const std::filesystem::path& text, const std::filesystem::path& shards, const std::string& length = "64") {
    const CommandResult made =
        run_command(data_program + " shard " + text.string() + " --vocabulary " + sample_data().vocabulary.string() +
                    " --output " + shards.string() + " --name sample --sequence-length " + length +
                    " --max-predictions 10 --duplicate-factor 1 --shards 2 --held-out-shards 1");
    check(made.exit_code == 0, "a test's preparation failed: ", made.err);
}

const TwoSources& two_sources() {
    static const std::filesystem::path made = made_once("two_sources", [](const std::filesystem::path& folder) {
        std::string halves[2];
        std::istringstream text(read_text(sample_data().text));
        std::size_t document = 0;
        for (std::string line; std::getline(text, line);) {
            halves[document % 2] += line + "\n";
            if (line.empty()) ++document;
        }
        for (int i = 0; i < 2; ++i) {
            write_text(folder / "text.txt", halves[i]);
            make_shards(folder / "text.txt", folder / (i == 0 ? "odd" : "even"));
        }
    });
    static const TwoSources sources{made / "odd", made / "even"};
    return sources;
}

json weighted(double of_odd, double of_even) {
    return {{{"path", two_sources().odd.string()}, {"weight", of_odd}},
            {{"path", two_sources().even.string()}, {"weight", of_even}}};
}

std::filesystem::path write_mixed(const TemporaryFolder& folder, double of_odd, double of_even, json patch = json::object()) {
    patch["data"]["training_shards"] = weighted(of_odd, of_even);
    return write_distributed_experiment(folder, patch);
}

/// The steps' lines of a run's metrics.
std::vector<json> records_of_steps(const std::filesystem::path& run) {
    std::vector<json> steps;
    for (const std::string& line : numbers_of(run))
        if (json parsed = json::parse(line); parsed.contains("samples")) steps.push_back(std::move(parsed));
    return steps;
}

/// Checks that the run's last evaluation has the held-out loss of each source, and that each is the loss of that source's shards.
void check_held_out(const std::filesystem::path& run) {
    json last;
    for (const std::string& line : numbers_of(run))
        if (json parsed = json::parse(line); parsed.contains("held_out_mlm_loss")) last = std::move(parsed);
    REQUIRE(last.at("sources").size() == 2);
    std::int64_t sequences = 0;
    for (const auto& [name, shards] : {std::pair("odd", two_sources().odd), std::pair("even", two_sources().even)}) {
        const json& source = last.at("sources").at(name);
        sequences += source.at("held_out_sequences").get<std::int64_t>();
        const CommandResult alone =
            run_command(concat(train_program, " evaluate ", run.string(), " --shards ", shards.string(), " --json"));
        CAPTURE(name, alone.err);
        REQUIRE(alone.exit_code == 0);
        const json result = json::parse(alone.out);
        CHECK(result.at("sequences") == source.at("held_out_sequences"));
        CHECK(source.at("held_out_mlm_loss").get<double>() == Approx(result.at("mlm_loss").get<double>()).epsilon(1e-5));
        CHECK(source.at("held_out_nsp_loss").get<double>() == Approx(result.at("nsp_loss").get<double>()).epsilon(1e-5));
    }
    CHECK(last.at("held_out_sequences") == sequences);
    CHECK(missing_words(read_text(run / "log.txt"), {"| mlm by source: odd ", ", even "}) == "");
    CHECK(missing_words(read_text(run / "metrics.prom"), {"bertpretrain_source_held_out_mlm_loss{run=", "source=\"even\"}"}) ==
          "");
}

/// Checks that every step has the sources' samples that the mixture gives it.
void check_counts(const std::vector<json>& steps, const Mixture& mixture) {
    for (const json& step : steps) {
        const std::int64_t samples = step.at("samples").get<std::int64_t>();
        const auto now = mixture.counts(samples), before = mixture.counts(samples - 24);
        for (std::size_t i = 0; i < 2; ++i) {
            const json& source = step.at("sources").at(i == 0 ? "odd" : "even");
            CHECK(source.at("sequences") == now[i] - before[i]);
            CHECK(source.at("samples") == now[i]);
            CHECK(source.at("mlm_loss").get<double>() > 0);
        }
    }
}

}  // namespace

TEST_CASE("a mixture trains the same model on 1, 2 and 3 ranks and after a resume on another number") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_mixed(folder, 0.7, 0.3, {{"evaluation", {{"max_sequences", 0}}}});
    REQUIRE(train(config, folder / "alone").exit_code == 0);
    check_held_out(folder / "alone");
    const std::vector<json> steps = records_of_steps(folder / "alone");
    REQUIRE(steps.size() == 30);
    check_counts(steps, Mixture({{0, {7, 3}}}));
    for (const json& step : steps) {  // the whole loss is the mean of the sources' losses
        double sum = 0, sequences = 0;
        for (const json& source : step.at("sources")) {
            sum += source.at("nsp_loss").get<double>() * source.at("sequences").get<double>();
            sequences += source.at("sequences").get<double>();
        }
        CHECK(sequences == 24);
        CHECK(sum / 24 == Approx(step.at("nsp_loss").get<double>()).epsilon(1e-9));
    }
    for (const int ranks : {2, 3}) {
        CAPTURE(ranks);
        const auto run = folder / std::to_string(ranks);
        REQUIRE(train(config, run, concat("--local-ranks ", ranks)).exit_code == 0);
        CHECK(largest_difference(folder / "alone", run) < 1e-5);
        CHECK(parameter_difference(folder / "alone", run) < 1e-5);
        if (ranks == 2) {
            const std::vector<std::string> whole = numbers_of(run);
            REQUIRE(train(config, run, "--local-ranks 2 --resume 10").exit_code == 0);
            CHECK(first_difference(numbers_of(run), whole).empty());
        } else {
            REQUIRE(train(config, run, "--local-ranks 2 --resume 20").exit_code == 0);
            CHECK(largest_difference(folder / "alone", run) < 1e-5);
        }
    }
}

TEST_CASE("other weights on resume are refused unless asked for, and then begin with an event at their step") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::string short_run = " --set schedule.total_steps=20";
    REQUIRE(train(write_mixed(folder, 3, 1), folder / "run", short_run).exit_code == 0);
    const auto other = write_mixed(folder, 1, 3);
    const CommandResult refused = train(other, folder / "run");
    CHECK(refused.exit_code == 2);
    CHECK(missing_words(refused.err, {"the weights of data.training_shards: 75 %, 25 % in the checkpoint, 25 %, 75 % now",
                                      "data.changed_weights = \"accept\""}) == "");
    const CommandResult accepted = train(other, folder / "run", "--set data.changed_weights=accept");
    REQUIRE(accepted.exit_code == 0);
    CHECK(missing_words(accepted.err, {"weights of sources 75 %, 25 % in the checkpoint, 25 %, 75 % now, from step 21 on"}) ==
          "");
    std::vector<json> events;
    std::istringstream lines(read_text(folder / "run/events.jsonl"));
    for (std::string line; std::getline(lines, line);)
        if (json event = json::parse(line); event.at("event") == "weights_changed") events.push_back(event);
    REQUIRE(events.size() == 1);
    CHECK(events[0].at("step") == 20);
    CHECK(events[0].at("shares") == json{250'000'000, 750'000'000});
    check_counts(records_of_steps(folder / "run"), Mixture({{0, {3, 1}}, {480, {1, 3}}}));

    const std::vector<std::string> whole = numbers_of(folder / "run");
    REQUIRE(train(other, folder / "run", "--resume 20 --set data.changed_weights=accept").exit_code == 0);
    CHECK(first_difference(numbers_of(folder / "run"), whole).empty());
    CHECK(train(other, folder / "run", "--set schedule.total_steps=33").exit_code == 0);  // its weights are the checkpoint's now

    const CommandResult seen = run_command(train_program + " inspect " + (folder / "run").string());
    CHECK(missing_words(seen.out, {"75 %, 25 % from sample 0 on", "25 %, 75 % from sample 480 on"}) == "");
    REQUIRE(run_command(train_program + " report " + (folder / "run").string() + " --output " + (folder / "report").string())
                .exit_code == 0);
}

TEST_CASE("a list of one source gives the run of the folder alone, bit for bit") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const json one = {{{"path", sample_data().shards.string()}, {"weight", 5}}};
    REQUIRE(train(write_experiment(folder, {{"data", {{"training_shards", one}}}}), folder / "run").exit_code == 0);
    CHECK(first_difference(numbers_of(folder / "run"), numbers_of(finished_run().run)).empty());
    auto listed = files_of(folder / "run"), alone = files_of(finished_run().run);
    for (const std::string file : {"checkpoints/step_00000020/model.pt", "checkpoints/step_00000020/optimizer.pt",
                                   "checkpoints/step_00000020/training_state.json", "settings.json"})
        CHECK((listed.at(file) == alone.at(file)));
}

TEST_CASE("sources that cannot be mixed are refused with one message") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    make_shards(sample_data().text, folder / "long", "128");
    const auto mixed_with = [&](const std::filesystem::path& other) {
        const json sources = {{{"path", two_sources().odd.string()}, {"weight", 1}}, {{"path", other.string()}, {"weight", 1}}};
        return train(write_experiment(folder, {{"data", {{"training_shards", sources}}}}), folder / "run");
    };
    const CommandResult longer = mixed_with(folder / "long");
    CHECK(longer.exit_code == 3);
    CHECK(missing_words(longer.err, {"data.training_shards lists sources that cannot be mixed", "sequence length differs: 64 in",
                                     two_sources().odd.string(), "128 in " + (folder / "long").string(), "do: "}) == "");

    std::filesystem::copy(two_sources().even, folder / "other");
    json manifest = json::parse(read_text(folder / "other/manifest.json"));
    manifest["vocabulary"]["crc32"] = 1;
    write_text(folder / "other/manifest.json", manifest.dump());
    const CommandResult other = mixed_with(folder / "other");
    CHECK(other.exit_code == 3);
    CHECK(missing_words(other.err, {"cannot be mixed", "vocabulary", (folder / "other").string()}) == "");

    std::filesystem::remove(folder / "long/manifest.json");  // then the rows themselves tell
    std::filesystem::remove(folder / "long/vocab.txt");
    const CommandResult bare = mixed_with(folder / "long");
    CHECK(bare.exit_code == 3);
    CHECK(missing_words(bare.err, {"rows are 128 tokens long, expected 64", "data.sequence_length"}) == "");
}
