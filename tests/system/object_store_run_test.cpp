// Training from an object store, with faults.

#include "support/catch.h"
#include "support/object_server.h"
#include "system/run_progress.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

TEST_CASE("a run on shards of an object store with faults has the losses of a run from the disk") {
    NEEDS_TRAIN();
    const ObjectServer server;
    NEEDS_OBJECT_SERVER(server);
    REQUIRE(server.put_folder(sample_data().shards, "shards"));
    server.set_faults(R"([{"fault": "503", "method": "GET", "every": 4},
                          {"fault": "slow", "method": "GET", "contains": ".h5", "times": 1},
                          {"fault": "cut", "method": "GET", "contains": ".h5", "times": 2},
                          {"fault": "wrong", "method": "GET", "contains": "training", "times": 1}])");
    const TemporaryFolder folder;
    const json patch{{"data", {{"training_shards", "s3://bucket/shards"}, {"cache_folder", (folder / "cache").string()}}}};
    const fs::path config = write_experiment(folder, patch);
    const CommandResult result = run_command(server.environment() + train_command(config, folder / "run"));
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(first_difference(numbers_of(finished_run().run), numbers_of(folder / "run")) == "");
    for (const char* fault : {" 503", " slow", " cut", " wrong"}) CHECK(server.count(fault) >= 1);
    CHECK(read_text(folder / "run/plan.json").find("verysecret") == std::string::npos);
    CHECK(read_text(folder / "run/log.txt").find("verysecret") == std::string::npos);
}

TEST_CASE("where an object store refuses a shard during training, the last step is saved before the run ends with exit 5") {
    NEEDS_TRAIN();
    const ObjectServer server;
    NEEDS_OBJECT_SERVER(server);
    const TemporaryFolder folder;
    const fs::path shards = folder / "shards";
    REQUIRE(run_command(data_program + " shard " + sample_data().text.string() + " --vocabulary " +
                        sample_data().vocabulary.string() + " --output " + shards.string() +
                        " --name many --sequence-length 64 --max-predictions 10 --shards 20 --held-out-shards 1")
                .exit_code == 0);
    REQUIRE(server.put_folder(shards, "shards"));
    server.set_faults(R"([{"fault": "error", "status": 418, "code": "Teapot", "contains": "many_training_0019"}])");
    const json patch{{"data", {{"training_shards", "s3://bucket/shards"}, {"cache_folder", (folder / "cache").string()}}},
                     {"batch", {{"micro_batch_size", 1}, {"gradient_accumulation_steps", 1}, {"global_batch_size", 2}}},
                     {"checkpoint", {{"save_every_steps", 0}}},
                     {"evaluation", {{"every_steps", 0}}}};
    const fs::path config = write_experiment(folder, patch);
    for (const std::string options : {"", "--local-ranks 2"}) {
        CAPTURE(options);
        const fs::path run = folder / (options.empty() ? "one" : "two");
        const CommandResult result = run_command(server.environment() + train_command(config, run, options));
        INFO(result.err);
        CHECK(result.exit_code == 5);
        CHECK(recorded_code(run) == 5);
        CHECK(missing_words(read_text(run / "exit.json"), {"many_training_0019", "418, Teapot"}) == "");
        const std::size_t steps = steps_of(run);
        REQUIRE(steps > 0);  // the shard's first use is in a later step
        CHECK(complete_checkpoints(run) == 1);
        const std::string step = std::to_string(steps);
        CHECK(fs::exists(run / "checkpoints" / ("step_" + std::string(8 - step.size(), '0') + step) / "COMPLETE.json"));
    }
}

TEST_CASE("evaluate reads held-out shards by s3:// and http://, with faults, and gives the numbers of the disk's") {
    NEEDS_TRAIN();
    const ObjectServer server;
    NEEDS_OBJECT_SERVER(server);
    REQUIRE(server.put_folder(sample_data().shards, "shards"));
    server.set_faults(R"([{"fault": "503", "method": "GET", "every": 3},
                          {"fault": "wrong", "method": "GET", "contains": "test", "times": 1}])");
    const TemporaryFolder folder;
    const auto evaluate = [&](const std::string& shards, const std::string& options) {
        const CommandResult result = run_command(server.environment() + "OMP_NUM_THREADS=1 " + train_program + " evaluate " +
                                                 finished_run().run.string() + " --json --shards " + shards + " " + options);
        INFO(result.err);
        CHECK(result.exit_code == 0);
        CHECK(result.out.find("mlm_loss") != std::string::npos);
        return result.out;
    };
    const std::string of_disk = evaluate(sample_data().shards.string(), "");
    CHECK(evaluate("s3://bucket/shards", "--cache-folder " + (folder / "of_s3").string()) == of_disk);
    CHECK(evaluate(server.endpoint() + "/bucket/shards", "--cache-folder " + (folder / "of_http").string()) == of_disk);
    CHECK(server.count(" 503") >= 1);

    const CommandResult missing = run_command(server.environment() + train_program + " evaluate " + finished_run().run.string() +
                                              " --shards s3://bucket/nothing --cache-folder " + (folder / "none").string());
    CHECK(missing.exit_code == 3);
    CHECK(missing_words(missing.err, {"s3://bucket/nothing"}) == "");
}
