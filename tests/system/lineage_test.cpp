// lineage.json from a dump to an export, verified by a Python script that uses none of our code.
#include <algorithm>

#include "support/catch.h"
#include "support/contains.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

CommandResult verified_by_python(const fs::path& path, const fs::path& run) {
    return run_command(python() + " tests/system/check_lineage.py " + path.string() + " --run " + run.string());
}

CommandResult verified_by_us(const fs::path& path) { return run_command(train_program + " inspect --lineage " + path.string()); }

void flip_a_byte(const fs::path& file) {
    std::string content = read_text(file);
    content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 1);
    write_text(file, content);
}

}  // namespace

TEST_CASE("a lineage leads from the export to the dump, through two sessions on one and two ranks") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path text = folder / "text.txt", vocabulary = folder / "vocab.txt", shards = folder / "shards",
                   run = folder / "run";
    fs::copy_file("data_tools/sample/encyclopaedia.xml", folder / "dump.xml");
    for (const std::string& command :
         {"extract " + (folder / "dump.xml").string() + " --output " + text.string(),
          "vocabulary " + text.string() + " --size 800 --output " + vocabulary.string(),
          "shard " + text.string() + " --vocabulary " + vocabulary.string() + " --output " + shards.string() +
              " --sequence-length 64 --max-predictions 10 --duplicate-factor 1 --shards 2 --held-out-shards 1"}) {
        const CommandResult made = run_command(data_program + " " + command);
        INFO(made.err);
        REQUIRE(made.exit_code == 0);
    }
    const fs::path config = write_experiment(folder, {{"data", {{"training_shards", shards.string()}}}});
    for (const char* options :
         {"--set schedule.total_steps=7", "--local-ranks 2 --set schedule.total_steps=12 --set batch.global_batch_size=8"}) {
        const CommandResult trained = train(config, run, options);
        INFO(trained.err);
        REQUIRE(trained.exit_code == 0);
    }
    for (const char* format : {"hf", "state_dict"}) {
        const CommandResult exported = run_command(train_program + " export " + run.string() + " --format " + format +
                                                   " --output " + (folder / format).string());
        INFO(exported.err);
        REQUIRE(exported.exit_code == 0);
    }
    fs::create_directories(folder / "failed.export.json/in the way");
    const CommandResult failed =
        run_command(train_program + " export " + run.string() + " --format state_dict --output " + (folder / "failed").string());
    CHECK(failed.exit_code == 3);
    for (const char* name : {"failed", "failed.partial", "failed.lineage.json"}) CHECK_FALSE(fs::exists(folder / name));

    const fs::path newest = run / "checkpoints/step_00000012";
    for (const fs::path& path : {newest, run / "checkpoints/step_00000003", folder / "hf", folder / "state_dict"}) {
        CAPTURE(path);
        const CommandResult ours = verified_by_us(path), independent = verified_by_python(path, run);
        INFO(ours.err << independent.out << independent.err);
        CHECK(ours.exit_code == 0);
        CHECK(contains(ours.out, "dump.xml"));
        CHECK_FALSE(contains(ours.out, "not recorded"));
        CHECK(independent.exit_code == 0);
    }
    const auto lineage = nlohmann::json::parse(read_text(newest / "lineage.json"));
    REQUIRE(lineage.at("sessions").size() == 2);
    CHECK(lineage["sessions"][1].at("begin") == 7);
    CHECK(lineage["sessions"][1].at("ranks") == 2);
    CHECK(lineage.at("predecessors").size() == 4);  // steps 3, 6, 7 and 9

    for (const fs::path& file :
         {folder / "dump.xml", text, shards / "vocab.txt", shards / "manifest.json", shards / "corpus_training_0001.h5",
          shards / "corpus_test_0000.h5", newest / "settings.json", newest / "model.pt", newest / "optimizer.pt",
          newest / "vocab.txt", run / "checkpoints/step_00000006/lineage.json"}) {
        CAPTURE(file);
        const std::string content = read_text(file);
        flip_a_byte(file);
        const CommandResult ours = verified_by_us(newest), independent = verified_by_python(newest, run);
        write_text(file, content);
        INFO(ours.err << independent.out << independent.err);
        CHECK(ours.exit_code == 3);
        CHECK(contains(ours.err, file.string()));
        CHECK(independent.exit_code == 1);
        CHECK(contains(independent.out, file.string()));
    }
    flip_a_byte(folder / "hf/model.safetensors");
    CHECK(verified_by_us(folder / "hf").exit_code == 3);
    CHECK(verified_by_python(folder / "hf", run).exit_code == 1);
}

TEST_CASE("a run that was killed right after a save, before its lineage was written, keeps the history before that") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder), run = folder / "run";
    REQUIRE(train(config, run, "--set schedule.total_steps=7").exit_code == 0);
    fs::remove(run / "checkpoints/step_00000007/lineage.json");
    REQUIRE(train(config, run, "--set schedule.total_steps=9").exit_code == 0);
    const auto lineage = nlohmann::json::parse(read_text(run / "checkpoints/step_00000009/lineage.json"));
    CHECK(lineage.at("sessions").size() == 2);
    REQUIRE(lineage.at("predecessors").size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CAPTURE(i);
        CHECK(lineage["predecessors"][i].at("step") == std::vector<int>{3, 6, 7}[i]);
        CHECK((lineage["predecessors"][i].at("lineage_sha256") == "") == (i == 2));
    }
    CHECK(verified_by_us(run).exit_code == 0);
}

TEST_CASE("a run that starts from another run's weights names the digest of that checkpoint") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path first = finished_run().run / "checkpoints/step_00000020";
    const fs::path config = write_experiment(folder, {{"initialization", {{"init_from", first.string()}}}});
    REQUIRE(train(config, folder / "run", "--set schedule.total_steps=3").exit_code == 0);
    const fs::path checkpoint = folder / "run/checkpoints/step_00000003";
    const auto lineage = nlohmann::json::parse(read_text(checkpoint / "lineage.json"));
    REQUIRE(lineage.at("started_from").size() == 1);
    CHECK(lineage["started_from"][0].at("file") == (first / "lineage.json").string());
    CHECK(verified_by_python(checkpoint, folder / "run").exit_code == 0);
}

TEST_CASE("shards of an older version train, and their lineage says that they are not recorded") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    fs::copy(sample_data().shards, folder / "shards");
    auto manifest = nlohmann::ordered_json::parse(read_text(folder / "shards/manifest.json"));
    manifest.erase("corpus");
    for (auto& shard : manifest["shards"]) shard.erase("sha256");
    write_text(folder / "shards/manifest.json", manifest.dump());
    const fs::path config = write_experiment(folder, {{"data", {{"training_shards", (folder / "shards").string()}}}});
    REQUIRE(train(config, folder / "run", "--set schedule.total_steps=3").exit_code == 0);
    const CommandResult answer = verified_by_us(folder / "run");
    INFO(answer.err);
    CHECK(answer.exit_code == 0);
    CHECK(contains(answer.out, "not recorded"));
    const CommandResult as_json = run_command(train_program + " inspect --json --lineage " + (folder / "run").string());
    const auto files = nlohmann::json::parse(as_json.out).at("files");
    CHECK(std::count_if(files.begin(), files.end(), [](const auto& file) { return file.at("state") == "not recorded"; }) == 5);
}
