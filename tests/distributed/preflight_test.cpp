// Faults of machines, network or files are found before the job starts, and the rank or the file is named.
#include "core/error.h"
#include "distributed/ranks.h"
#include "support/catch.h"
#include "support/object_server.h"
#include "support/small_disk.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// With `--slow 0`, because other tests may keep a rank waiting for seconds on a machine with few cores.
std::string preflight_command(const TemporaryFolder& folder, const std::string& options, const std::string& run = "run",
                              const char* slow_share = "0") {
    return concat("OMP_NUM_THREADS=1 ", train_program, " preflight ", write_distributed_experiment(folder).string(), " --output ",
                  (folder / run).string(), " --max-bytes 256 --repetitions 8 --slow ", slow_share, " ", options);
}

/// Returns `command` with a simulated device fault on one rank.
std::string with_bad_device(const std::string& fault, int rank, const std::string& command) {
    return concat("export LD_PRELOAD=" PROGRAM_FOLDER "/libdevice_fault.so FAULT_DO=", fault, " FAULT_RANK=", rank, "; ",
                  command);
}

}  // namespace

TEST_CASE("a preflight of 2 and 4 ranks prints nccl-tests' table, takes five steps and leaves no files") {
    NEEDS_TRAIN();
    for (const int ranks : {2, 4}) {
        const TemporaryFolder folder;
        const CommandResult result = run_command(preflight_command(folder, concat("--local-ranks ", ranks)));
        INFO(result.out << result.err);
        CHECK(result.exit_code == 0);
        CHECK(missing_words(
                  result.out,
                  {"# all_reduce\n", "# reduce_scatter_all_gather\n", "# all_gather", "# reduce_scatter", "# broadcast",
                   "size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong",
                   "(B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)",
                   "         256            64     float     sum      -1", "# Out of bounds values : 0 OK",
                   "# Avg bus bandwidth    : ", "matrix product, bf16", "slowest", concat("ranks 0-", ranks - 1), "dry run",
                   "5 steps of", "written and read back", "preflight: ready to train"}) == "");
        std::vector<std::string> left;
        for (const auto& entry : fs::directory_iterator(folder.path())) left.push_back(entry.path().filename());
        CHECK(left == std::vector<std::string>{"experiment.json"});
    }
}

TEST_CASE("a preflight's JSON has the content of its text, and nothing else is on standard output") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const CommandResult result = run_command(preflight_command(folder, "--local-ranks 2 --json"));
    INFO(result.err);
    const json said = json::parse(result.out);
    CHECK(said.at("exit_code") == 0);
    CHECK(said.at("ranks") == 2);
    CHECK(said.at("collectives").size() == 5);
    CHECK(said["collectives"][0].at("rows").size() == 6);
    CHECK(said["operations"][0].at("rate_of_rank").size() == 2);
    CHECK(said.at("dry_run").at("steps") == 5);
    for (const json& finding : said.at("findings")) CHECK(finding.at("ok") == true);
}

TEST_CASE("a device with intermittent errors is found and named") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const CommandResult result = run_command(with_bad_device("wrong", 2, preflight_command(folder, "--local-ranks 4")));
    INFO(result.err);
    CHECK(result.exit_code == 6);
    CHECK(missing_words(result.out,
                        {"FAILED  device, rank 2 on ", "this device computes wrong", "matrix product, fp32: 1 of 8 wrong",
                         "element 12345", "ok      device, rank 3", "not ready (exit code 6)"}) == "");
    CHECK(result.out.find("FAILED  device, rank 1") == std::string::npos);
}

TEST_CASE("a slow rank is found and named") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const CommandResult result =
        run_command(with_bad_device("slow", 1, preflight_command(folder, "--local-ranks 4", "run", "0.2")));
    INFO(result.err);
    CHECK(result.exit_code == 5);
    CHECK(missing_words(result.out, {"FAILED  speed, rank 1 on ", "matrix product, bf16", "of the ranks' median"}) == "");
}

TEST_CASE("all bad shards are found and named, and no step is run") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path shards = folder / "shards";
    fs::copy(sample_data().shards, shards, fs::copy_options::recursive);
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(shards))
        if (entry.path().extension() == ".h5") {
            std::string content = read_text(entry.path());
            content[content.size() / 2] ^= 1;
            write_text(entry.path(), content);
            names.push_back(entry.path().filename().string());
        }
    const CommandResult result =
        run_command(preflight_command(folder, "--local-ranks 2 --set data.training_shards=" + shards.string()));
    INFO(result.err);
    CHECK(result.exit_code == 3);
    REQUIRE(names.size() >= 3);
    for (const std::string& name : names) CHECK(missing_words(result.out, {name}) == "");
    CHECK(missing_words(result.out, {"FAILED  shards", "its checksum is"}) == "");
    CHECK(missing_words(result.err, {"skipping the dry run"}) == "");
}

TEST_CASE("too little disk space is found before the job, with the needed and the free space") {
    NEEDS_TRAIN();
    NEEDS_MOUNTS();
    const TemporaryFolder folder;
    fs::create_directory(folder / "disk");
    const CommandResult result =
        run_command(in_mount_namespace(concat("mount -t tmpfs -o size=3m none ", (folder / "disk").string(), "; ",
                                              preflight_command(folder, "--local-ranks 2", "disk/run"))));
    INFO(result.err);
    CHECK(result.exit_code == 4);
    CHECK(missing_words(result.out, {"FAILED  disk", "no space for all checkpoints", "free now: 3.0 MiB"}) == "");
}

TEST_CASE("a missing transport that is required between hosts is found; one host needs none") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::string required = " --require-transport efa";
    const auto rank = [&](int number) {  // without LOCAL_WORLD_SIZE: the only rank of its host
        return concat("env RANK=", number, " WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29633 ",
                      preflight_command(folder, required));
    };
    const std::string first = rank(0);
    Process second(rank(1));
    const CommandResult result = run_command(first);
    INFO(result.err);
    CHECK(result.exit_code == 5);
    CHECK(missing_words(result.out, {"FAILED  transport", "tensors travel by sockets", "asks for efa"}) == "");
    CHECK(second.wait() == 5);

    const CommandResult alone = run_command(preflight_command(folder, "--local-ranks 2" + required));
    INFO(alone.err);
    CHECK(alone.exit_code == 0);
    CHECK(missing_words(alone.out, {"ok      transport", "loopback"}) == "");
}

TEST_CASE("a mirror that returns other bytes or has no bucket is found before the job, and no object is left in a good one") {
    NEEDS_TRAIN();
    const ObjectServer server;
    NEEDS_OBJECT_SERVER(server);
    const auto preflight = [&](const std::string& mirror) {
        const TemporaryFolder folder;
        const CommandResult result =
            run_command(server.environment() + preflight_command(folder, "--local-ranks 2 --set checkpoint.mirror=" + mirror));
        INFO(result.out << result.err);
        CHECK(result.out.find("verysecret") == std::string::npos);
        return result;
    };
    const CommandResult good = preflight("s3://bucket/mirror");
    CHECK(good.exit_code == 0);
    CHECK(missing_words(good.out, {"ok      mirror", "s3://bucket/mirror: an object of", "written, read back and removed"}) ==
          "");
    CHECK(server.count("PUT /bucket/mirror/preflight-") == 1);
    CHECK(server.count("DELETE /bucket/mirror/preflight-") == 1);
    CHECK(server.count("/bucket/mirror/step_") == 0);

    const CommandResult missing = preflight("s3://no-such-bucket/mirror");
    CHECK(missing.exit_code == 2);
    CHECK(missing_words(missing.out, {"FAILED  mirror", "checkpoint.mirror = \"s3://no-such-bucket/mirror\"", "NoSuchBucket"}) ==
          "");

    server.set_faults(R"([{"fault": "wrong", "method": "PUT"}])");
    const CommandResult wrong = preflight("s3://bucket/other");
    CHECK(wrong.exit_code == 4);
    CHECK(missing_words(wrong.out, {"FAILED  mirror", "s3://bucket/other/preflight-", "other bytes were read back"}) == "");
    CHECK(missing_words(wrong.err, {"skipping the dry run"}) == "");
    CHECK(server.count("DELETE /bucket/other/preflight-") == 1);
}
