// `audit`: steps of a run, computed again and compared with its records.
#include <map>
#include <sstream>
#include <stdexcept>

#include "checkpoint/checkpoint_reader.h"
#include "checkpoint/checkpoint_store.h"
#include "core/concat.h"
#include "support/catch.h"
#include "support/free_port.h"
#include "support/made_once.h"
#include "support/process.h"
#include "system/small_run.h"
#include "telemetry/metrics_chain.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

CommandResult run_audit(const fs::path& run, const std::string& options = "", const std::string& environment = "") {
    return run_command("env OMP_NUM_THREADS=1 " + environment + train_program + " audit " + run.string() + " " + options);
}

/// Runs `audit --json`, checks its exit code, and returns what it printed.
json audit_json(const fs::path& run, int exit_code, const std::string& options = "", const std::string& environment = "") {
    const CommandResult audited = run_audit(run, options + " --json", environment);
    INFO(audited.err << audited.out);
    REQUIRE(audited.exit_code == exit_code);
    return json::parse(audited.out);
}

/// The steps with a verdict, over all stretches.
std::vector<std::int64_t> steps_with(const json& audit, const std::string& verdict) {
    std::vector<std::int64_t> steps;
    for (const json& stretch : audit.at("stretches"))
        for (const json& step : stretch.at("steps"))
            if (step.at("verdict") == verdict) steps.push_back(step.at("step"));
    return steps;
}

/// Returns the step's "what"; "" if it is equal.
std::string what_of(const json& audit, std::int64_t step) {
    for (const json& stretch : audit.at("stretches"))
        for (const json& one : stretch.at("steps"))
            if (one.at("step") == step) return one.value("what", "");
    return "no such step";
}

/// Changes the last digit of the loss of a step. @param forges_chain whether to compute all chain values again
void change_loss(const fs::path& run, std::int64_t step, bool forges_chain) {
    std::istringstream lines(read_text(run / "metrics.jsonl"));
    std::string text, chain;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(concat("{\"step\":", step, ",")) && line.find("held_out") == std::string::npos) {
            char& digit = line.at(line.find(",\"mlm_loss\"") - 1);
            digit = digit == '5' ? '6' : '5';
        }
        const std::string content = ChainedLine::of(line).content;
        chain = chain_value(chain, content);
        text += (forges_chain ? ChainedLine::with(content, chain) : line) + "\n";
    }
    write_text(run / "metrics.jsonl", text);
}

/// Flips the lowest bit of one element, and saves the checkpoint again with valid checksums.
void forge_checkpoint(const fs::path& run, std::int64_t step, const std::string& moment, const std::string& tensor) {
    const CheckpointStore store(run / "checkpoints");
    TrainingState state;
    std::map<std::string, std::vector<float>> values;
    {
        const CheckpointReader reader(store.complete_at(step));
        state.step = step;
        state.progress = reader.progress();
        state.settings = reader.settings();
        const auto take = [&](const std::string& of_moment) {
            TensorSet set{reader.parameters(), {}};
            for (std::size_t i = 0; i < set.tensors.size(); ++i) {
                std::int64_t elements = 1;
                for (const std::int64_t size : set.tensors[i].shape) elements *= size;
                std::vector<float>& read = values[of_moment + "/" + set.tensors[i].name];
                read.resize(static_cast<std::size_t>(elements));
                if (of_moment.empty()) reader.read_parameter(set.tensors[i].name, 0, read.data(), elements);
                else reader.read_moment(of_moment, set.tensors[i].name, 0, read.data(), elements);
                if (of_moment == moment && set.tensors[i].name == tensor) reinterpret_cast<std::uint32_t&>(read[1]) ^= 1;
                set.pieces.push_back({i, 0, read.data(), elements});
            }
            return set;
        };
        state.parameters = take("");
        for (const std::string& name : reader.moment_names()) state.moments[name] = take(name);
    }
    store.save(state);
}

/// A run of 12 steps in three sessions: one was asked for 7 steps, one had another learning rate; a save every 3 steps.
const fs::path& restarted_run() {
    static const fs::path made =
        made_once("restarted_run",
                  [](const fs::path& folder) {
                      // whose weight decay follows the peak of the rate
                      const json stable = {{"optimizer", {{"name", "stable_adamw"}, {"weight_decay", 0.1}}}};
                      const fs::path config = write_experiment(folder, stable), run = folder / "run";
                      for (const std::string options :
                           {"--set schedule.total_steps=7", "--set schedule.total_steps=9 --set optimizer.learning_rate=0.002",
                            "--set schedule.total_steps=12"})
                          if (const CommandResult trained = train(config, run, options); trained.exit_code != 0)
                              throw std::runtime_error(trained.err);
                  }) /
        "run";
    return made;
}

}  // namespace

TEST_CASE("a run with restarts and changed learning rates is equal to the bit, and its folder stays as it was") {
    NEEDS_TRAIN();
    const auto before = files_of(restarted_run());
    const json audit = audit_json(restarted_run(), 0);
    CHECK((files_of(restarted_run()) == before));
    CHECK(audit.at("verdict") == "equal");
    CHECK(audit.at("chain").at("intact") == true);
    CHECK(audit.at("chain").at("lines") == numbers_of(restarted_run()).size());
    REQUIRE(audit.at("stretches").size() == 1);
    CHECK(audit.at("stretches")[0].at("from") == 0);
    CHECK(steps_with(audit, "equal").size() == 12);
    const json late = audit_json(restarted_run(), 0, "--steps 8:11");
    CHECK(late.at("stretches")[0].at("from") == 7);
    CHECK(steps_with(late, "equal") == std::vector<std::int64_t>{8, 9, 10, 11});
    CHECK(late.at("stretches")[0].at("steps")[1].at("checkpoint") == true);
    CHECK(audit_json(restarted_run(), 0, "--samples 2").at("verdict") == "equal");
    CHECK(missing_words(run_audit(restarted_run(), "--steps 4").out,
                        {"step 3", "4 to 4", "chain of metrics.jsonl: intact", "audit: equal to the bit"}) == "");
}

TEST_CASE("a run whose logged loss was changed in its last digit is refuted with the step, also if the chain was forged") {
    NEEDS_TRAIN();
    const bool forges_chain = GENERATE(false, true);
    CAPTURE(forges_chain);
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    copy_finished_run(run);
    change_loss(run, 7, forges_chain);
    const json audit = audit_json(run, 6, "--steps 5:8");
    CHECK(steps_with(audit, "different") == std::vector<std::int64_t>{7});
    CHECK(missing_words(what_of(audit, 7), {"loss is ", "in metrics.jsonl", "recomputed"}) == "");
    CHECK(audit.at("chain").at("intact") == forges_chain);
    if (!forges_chain) {
        CHECK(audit.at("chain").at("broken_step") == 7);
        CHECK(audit_json(run, 6, "--steps 12:13").at("verdict") == "different");  // far from the change: the chain finds it
    }
}

TEST_CASE("a checkpoint in which one bit was changed is refuted with step and tensor, also if its checksums were forged") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    copy_finished_run(run);
    forge_checkpoint(run, 6, "", "bert.encoder.layer.1.output.dense.weight");
    forge_checkpoint(run, 9, "exp_avg_sq", "cls.predictions.bias");
    REQUIRE(run_command(train_program + " inspect --verify " + run.string()).exit_code == 0);
    const json audit = audit_json(run, 6, "--steps 4:10");
    CHECK(steps_with(audit, "different") == std::vector<std::int64_t>{6, 9});
    CHECK(missing_words(what_of(audit, 6), {"tensor bert.encoder.layer.1.output.dense.weight"}) == "");
    CHECK(missing_words(what_of(audit, 9), {"tensor exp_avg_sq of cls.predictions.bias"}) == "");
    CHECK(audit_json(run, 6, "--steps 7:7").at("stretches")[0].at("from") == 6);  // the changed weight gives another loss

    fs::path model = run / "checkpoints/step_00000012/model.pt";
    std::string bytes = read_text(model);
    bytes.at(bytes.size() / 2) = static_cast<char>(bytes.at(bytes.size() / 2) ^ 1);
    write_text(model, bytes);
    const json damaged = audit_json(run, 6, "--steps 12:13");
    CHECK(damaged.at("stretches")[0].at("from") == 9);
    CHECK(missing_words(what_of(damaged, 12), {"model.pt", "damaged"}) == "");
}

TEST_CASE("other kernels and another number of ranks are equal within the bound; the same number is equal to the bit") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, {{"schedule", {{"total_steps", 9}}}}), two = folder / "two";
    REQUIRE(train(config, two, "--local-ranks 2").exit_code == 0);
    const json alone = audit_json(two, 0);
    CHECK(alone.at("verdict") == "within_bound");
    CHECK(steps_with(alone, "different").empty());
    CHECK(audit_json(two, 0, "--local-ranks 2").at("verdict") == "equal");
    CHECK(audit_json(two, 6, "--bound 0").at("verdict") == "different");
    const json plain = audit_json(finished_run().run, 0, "", "BERTPRETRAIN_CPU_CAPABILITY=reference ");
    CHECK(plain.at("verdict") == "within_bound");
    CHECK(steps_with(plain, "equal").size() < 20);
}

TEST_CASE("steps after a change of the number of ranks are within the bound, because the audit began with steps of other ranks") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, {{"batch", {{"global_batch_size", 8}}}}), run = folder / "run";
    REQUIRE(train(config, run, "--set schedule.total_steps=6").exit_code == 0);
    REQUIRE(train(config, run, "--local-ranks 2 --set schedule.total_steps=12").exit_code == 0);
    const json alone = audit_json(run, 0), both = audit_json(run, 0, "--local-ranks 2");
    CHECK(steps_with(alone, "equal").size() >= 6);
    CHECK(both.at("verdict") == "within_bound");
    CHECK(audit_json(run, 0, "--local-ranks 2 --steps 8:12").at("verdict") == "equal");
}

TEST_CASE("an audit of steps that cannot be computed is refused with the reason") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path& run = finished_run().run;
    const auto refuse = [&](const fs::path& of, const std::string& options, int code, const std::vector<std::string>& words) {
        CAPTURE(options);
        const CommandResult refused = run_audit(of, options);
        CHECK(refused.exit_code == code);
        CHECK(missing_words(refused.err, words) == "");
    };
    refuse(run, "--steps 3:2", 2, {"--steps 3:2", "from 1 to 20"});
    refuse(run, "--steps 20:21", 2, {"--steps 20:21", "from 1 to 20"});
    refuse(run, "--steps many", 2, {"--steps many", "FIRST:LAST"});
    refuse(run, "--set training.seed=8", 2, {"training.seed", "the run has 7"});
    refuse(folder.path(), "", 3, {"is not a run's folder"});
    const std::string other = (folder / "other").string();
    REQUIRE(run_command(data_program + " shard " + sample_data().text.string() + " --vocabulary " +
                        sample_data().vocabulary.string() + " --output " + other +
                        " --sequence-length 64 --max-predictions 10 --duplicate-factor 1 --shards 2" +
                        " --held-out-shards 1 --seed 5")
                .exit_code == 0);
    refuse(run, "--set data.training_shards=" + other, 3, {"trained on other data"});

    const fs::path config = write_experiment(folder, {{"evaluation", {{"every_steps", 0}}}, {"checkpoint", {{"keep_last", 1}}}});
    const fs::path pruned = folder / "pruned";
    REQUIRE(train(config, pruned, "--set schedule.total_steps=4").exit_code == 0);
    REQUIRE(train(config, pruned, "--set schedule.total_steps=8 --set optimizer.learning_rate=0.002").exit_code == 0);
    refuse(pruned, "--steps 2:3", 2, {"the settings of step 1 are not known"});
}

TEST_CASE("sums that another division of the ranks into nodes adds in another order are compared within the bound") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, {{"schedule", {{"total_steps", 8}}}});
    const int port = free_port();
    std::vector<std::unique_ptr<Process>> ranks;
    for (int rank = 0; rank < 4; ++rank)
        ranks.push_back(std::make_unique<Process>(
            concat("env OMP_NUM_THREADS=1 BERTPRETRAIN_NODE=node", rank / 2, " RANK=", rank, " LOCAL_RANK=", rank,
                   " WORLD_SIZE=4 LOCAL_WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT=", port, " ",
                   train_command(config, folder / "run"))));
    for (const auto& rank : ranks) REQUIRE(rank->wait() == 0);
    CHECK(read_text(folder / "run/events.jsonl").find("\"sums\":\"fp32 over 0 2, 1 3\"") != std::string::npos);
    CHECK(audit_json(folder / "run", 0, "--local-ranks 4").at("verdict") == "within_bound");
}

TEST_CASE(
    "a checkpoint that only one rank's host sees damaged or lacks is not used by any rank, and is reported with that rank") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, {{"schedule", {{"total_steps", 9}}}});
    REQUIRE(train(config, folder / "run", "--local-ranks 2").exit_code == 0);
    fs::copy(folder / "run", folder / "other", fs::copy_options::recursive);
    const fs::path model = folder / "other/checkpoints/step_00000006/model.pt";
    std::string bytes = read_text(model);
    bytes.at(bytes.size() / 2) ^= 1;
    write_text(model, bytes);
    fs::remove_all(folder / "other/checkpoints/step_00000003");
    const int port = free_port();
    const auto start = [&](int rank, const std::string& run) {
        return std::make_unique<Process>(concat("env OMP_NUM_THREADS=1 RANK=", rank, " WORLD_SIZE=2 LOCAL_RANK=", rank,
                                                " LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1", " MASTER_PORT=", port,
                                                " sh -c 'exec ", train_program, " audit ", (folder / run).string(),
                                                " --steps 5:8 --json > ", (folder / ("audit_of_" + run)).string(), "'"));
    };
    const auto first = start(0, "run"), second = start(1, "other");
    CHECK(second->wait() == 6);
    CHECK(first->wait() == 6);
    const json audit = json::parse(read_text(folder / "audit_of_run"));
    CHECK(audit.at("stretches")[0].at("from") == 0);
    CHECK(steps_with(audit, "different") == std::vector<std::int64_t>{6});
    CHECK(missing_words(what_of(audit, 6), {"on rank 1: ", "other/checkpoints/step_00000006/model.pt", "damaged"}) == "");
}
