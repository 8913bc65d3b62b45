// An experiment with phases trains as its phases do by hand, through kills, stops and moves of the run's folder.
#include <csignal>

#include "support/catch.h"
#include "support/object_server.h"
#include "system/run_progress.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
using bertpretrain::concat;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

const json second = {
    {"model", {{"layer_norm_eps", 1e-6}}},
    {"data", {{"masking", "dynamic"}, {"masked_lm_prob", 0.3}}},
    {"batch", {{"gradient_accumulation_steps", 3}, {"warmup_steps", 5}, {"warmup_from", 4}, {"warmup_increment", 4}}},
    {"optimizer", {{"learning_rate", 0.0005}}},
    {"schedule", {{"name", "constant"}, {"total_steps", 11}}}};
const json third = {{"model", {{"layer_norm_eps", 1e-6}}},
                    {"schedule", {{"name", "wsd"}, {"warmup_ratio", 0}, {"decay_ratio", 1}, {"total_steps", 8}}},
                    {"training", {{"seed", 31}}}};
const std::vector<std::string> folders{"phases/01_main", "phases/02_other", "phases/03_decay"};
const std::vector<std::string> last_steps{"step_00000020", "step_00000011", "step_00000008"};

json named(json phase, const std::string& name) {
    phase["name"] = name;
    return phase;
}

fs::path write_phases(const TemporaryFolder& folder, const json& patch = json::object()) {
    json all{{"phases", {json{{"name", "main"}}, named(second, "other"), named(third, "decay")}}};
    all.merge_patch(patch);
    return write_experiment(folder, all);
}

/// Trains the phases as runs of their own, each with the settings that the phase of a file gets.
void train_by_hand(const fs::path& into) {
    const std::vector<json> patches{json::object(), second, third};
    for (std::size_t i = 0; i < patches.size(); ++i) {
        const TemporaryFolder folder;
        json patch = patches[i];
        if (i > 0) patch["initialization"] = {{"init_from", (into / folders[i - 1]).string()}, {"init_moments", true}};
        if (i == 1) patch["initialization"]["init_changes"] = {"layer_norm_eps"};
        if (i == 1) patch["training"]["seed"] = 8;
        const CommandResult result = train(write_experiment(folder, patch), into / folders[i]);
        INFO(result.err);
        REQUIRE(result.exit_code == 0);
    }
}

/// Checks that each phase of two runs has the same numbers and the same weights and moments, to the bit.
void check_the_same(const fs::path& a, const fs::path& b) {
    for (std::size_t i = 0; i < folders.size(); ++i) {
        CAPTURE(folders[i]);
        CHECK(first_difference(numbers_of(a / folders[i]), numbers_of(b / folders[i])) == "");
        for (const char* file : {"model.pt", "optimizer.pt"}) {
            const std::string path = concat(folders[i], "/checkpoints/", last_steps[i], "/", file), content = read_text(a / path);
            CHECK(!content.empty());
            CHECK((content == read_text(b / path)));
        }
    }
}

struct UndisturbedPhases {
    UndisturbedPhases() {
        const CommandResult result = train(config, run);
        INFO(result.err);
        REQUIRE(result.exit_code == 0);
    }
    TemporaryFolder folder;
    fs::path config = write_phases(folder), run = folder / "run";
};

const UndisturbedPhases& undisturbed() {
    static const UndisturbedPhases made;
    return made;
}

CommandResult program(const std::string& arguments) {
    return run_command("env OMP_NUM_THREADS=1 " + train_program + " " + arguments);
}

}  // namespace

TEST_CASE("phases of one file train as the same phases by hand, to the bit") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    train_by_hand(folder.path());
    check_the_same(undisturbed().run, folder.path());
}

TEST_CASE("a run that is killed in each of its phases has the bits of an undisturbed one") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_phases(folder), run = folder / "run";
    for (const std::size_t steps : {0U, 4U})
        for (const std::string& phase : folders) {
            Process process(train_command(config, run));
            REQUIRE(wait_until(process, [&] { return fs::exists(run / phase) && steps_of(run / phase) > steps; }));
            process.send(SIGKILL);
            process.wait();
        }
    const CommandResult rest = train(config, run);
    INFO(rest.err);
    CHECK(rest.exit_code == 0);
    check_the_same(undisturbed().run, run);
    CHECK(train(config, run).exit_code == 0);  // it is done
    check_the_same(undisturbed().run, run);
}

TEST_CASE("a stop signal in a phase ends the run with its code, and the same command goes on in that phase") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_phases(folder), run = folder / "run";
    {
        Process process(train_command(config, run));
        REQUIRE(wait_until(process, [&] { return fs::exists(run / folders[1]) && steps_of(run / folders[1]) > 0; }));
        process.send(SIGTERM);
        REQUIRE(wait_for_end(process) == 128 + SIGTERM);
    }
    CHECK(recorded_code(run) == 128 + SIGTERM);
    const fs::path moved = folder / "moved";
    fs::rename(run, moved);
    const CommandResult rest = train(config, moved);
    INFO(rest.err);
    CHECK(rest.exit_code == 0);
    CHECK(missing_words(rest.err, {"phase other (2 of 3)", "going on from step", "phase decay (3 of 3)"}) == "");
    CHECK(rest.err.find("phase main") == std::string::npos);
    CHECK(recorded_code(moved) == -1);
    check_the_same(undisturbed().run, moved);
}

TEST_CASE("a stop signal between two phases, or while the next one starts, ends the run before that phase's first step") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path others = folder / "others", waits = folder / "waits", go = folder / "go", run = folder / "run";
    fs::copy(sample_data().shards, others);
    const json other{{"name", "other"}, {"data", {{"training_shards", others.string()}}}};
    const fs::path config = write_experiment(folder, {{"phases", {json{{"name", "main"}}, other}}});
    {
        const std::string command = concat("--set 'checkpoint.after_save=case $1 in *20) touch ", waits.string(), "; while [ -e ",
                                           waits.string(), " ] && [ ! -e ", go.string(), " ]; do sleep 0.01; done;; esac'");
        Process process(train_command(config, run, command + " --set checkpoint.stop_grace_seconds=0"));
        REQUIRE(wait_until(process, [&] { return fs::exists(waits); }));
        process.send(SIGTERM);
        CHECK(wait_for_end(process) == 128 + SIGTERM);
        write_text(go, "");
        CHECK(recorded_code(run) == 128 + SIGTERM);
        CHECK_FALSE(fs::exists(run / folders[1]));
    }
    const fs::path stuck = folder / "stuck";
    Process process(concat("env LD_PRELOAD=" PROGRAM_FOLDER "/libfault_shim.so FAULT_CALL=pread FAULT_FILE=", others.string(),
                           " FAULT_WHEN=", (run / folders[1]).string(), " FAULT_REACHED=", stuck.string(), " ",
                           train_command(config, run)));
    REQUIRE(wait_until(process, [&] { return fs::exists(stuck); }));
    process.send(SIGTERM);
    CHECK(wait_for_end(process) == 128 + SIGTERM);
    const CommandResult rest = train(config, run);
    INFO(rest.err);
    CHECK(rest.exit_code == 0);
    CHECK(fs::exists(run / folders[1] / "checkpoints/step_00000020"));
}

TEST_CASE("a disk that stops answering between two phases is reported as a hang") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    const fs::path config =
        write_experiment(folder, {{"phases", {json{{"name", "main"}}, json{{"name", "other"}}}},
                                  {"evaluation", {{"every_steps", 0}}},  // so that loss.svg is drawn at the end
                                  {"watchdog", {{"first_step_seconds", 10}}},
                                  {"parallel", {{"first_step_timeout_seconds", 5}}}});
    Process process(
        with_fault("FAULT_CALL=readdir FAULT_FILE=/checkpoints", run / folders[0] / "loss.svg", train_command(config, run)));
    CHECK(wait_for_end(process) == 5);
    CHECK(missing_words(read_text(run / "exit.json"), {"hangs", "start", "watchdog.first_step_seconds"}) == "");
}

TEST_CASE("the folder of a run with phases is held: a second start leaves no exit.json, and a renamed run gets its own") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_phases(folder), run = folder / "run", moved = folder / "moved";
    const std::string endless = "--set phases.main.schedule.total_steps=100000 ";
    const std::string options = endless + GENERATE("", "--local-ranks 2");
    Process process(train_command(config, run, options));
    REQUIRE(wait_until(process, [&] { return fs::exists(run / folders[0] / "checkpoints/step_00000003/COMPLETE.json"); }));
    const CommandResult second = train(config, run, endless);
    CHECK(second.exit_code == 2);
    CHECK(missing_words(second.err, {run.string() + ": another process is training in this folder"}) == "");
    CHECK(recorded_code(run) == -1);
    fs::rename(run, moved);
    CHECK(wait_for_end(process) == 4);
    CHECK(recorded_code(moved) == 4);
    CHECK_FALSE(fs::exists(run));
}

TEST_CASE("a later phase whose steps have fewer sequences than there are ranks ends the run before the first phase") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const json last{{"name", "decay"}, {"batch", {{"global_batch_size", 1}}}};
    const fs::path config = write_experiment(folder, {{"phases", {json{{"name", "main"}}, last}}});
    const CommandResult result = train(config, folder / "run", "--local-ranks 2");
    CHECK(result.exit_code == 2);
    CHECK(missing_words(result.err, {"phase decay, which trains later: a step of 1 sequences cannot be shared by 2 ranks"}) ==
          "");
    CHECK_FALSE(fs::exists(folder / "run/phases/01_main/checkpoints"));
}

TEST_CASE("shards that a later phase cannot use end the run before the first phase") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto refused = [&](const json& data, const std::string& words) {
        const json all{{"phases", {json{{"name", "main"}}, json{{"name", "decay"}, {"data", data}}}}};
        const CommandResult result = train(write_experiment(folder, all), folder / "run");
        INFO(result.err);
        CHECK(result.exit_code == 3);
        CHECK(missing_words(result.err, {"phase decay, which trains later: ", words}) == "");
        CHECK_FALSE(fs::exists(folder / "run/phases/01_main/checkpoints"));
    };
    refused({{"training_shards", (folder / "typo").string()}}, "typo: does not exist");
    refused({{"sequence_length", 32}}, "are 64 tokens long, expected 32");
    write_text(folder / "words.txt", read_text(sample_data().vocabulary) + "zzzz\n");
    REQUIRE(run_command(data_program + " shard " + sample_data().text.string() + " --vocabulary " +
                        (folder / "words.txt").string() + " --sequence-length 64 --output " + (folder / "other").string())
                .exit_code == 0);
    refused({{"training_shards", (folder / "other").string()}}, "were made with another vocabulary");
}

TEST_CASE("a finished phase keeps its settings, and the run its phases") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    fs::copy(undisturbed().run, run, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    const auto refused = [&](const fs::path& config, const std::string& options, const std::vector<std::string>& words) {
        const CommandResult result = train(config, run, options);
        CHECK(result.exit_code == 2);
        CHECK(missing_words(result.err, words) == "");
    };
    const fs::path config = write_phases(folder);
    refused(config, "--set phases.other.optimizer.learning_rate=0.1",
            {"02_other", "this phase is finished", "optimizer.learning_rate: 0.0005 in its settings.json, 0.1 now"});
    refused(config, "--set phases.main.schedule.total_steps=30", {"01_main", "schedule.total_steps: 20 in", "30 now"});
    refused(config, "--resume 3", {"--resume 3: names no phase"});
    refused(config, "--resume never", {"holds checkpoints of an earlier run"});
    refused(write_experiment(folder), "", {"phases/01_main", "no phase of this number and name"});
    refused(write_phases(folder, {{"phases", {json{{"name", "first"}}}}}), "", {"phases/01_main", "no phase of this number"});
    const CommandResult without = train(write_phases(folder), finished_run().run);
    CHECK(without.exit_code == 2);
    CHECK(missing_words(without.err, {"holds the checkpoints of a run without phases"}) == "");
    check_the_same(undisturbed().run, run);
    // What decides no result may change, and the last phase may become longer.
    CHECK(train(write_phases(folder), run, "--set checkpoint.keep_last=2 --set phases.decay.schedule.total_steps=9").exit_code ==
          0);
    CHECK(fs::exists(run / folders[2] / "checkpoints/step_00000009"));
}

TEST_CASE("commands take a run with phases at its newest checkpoint, or name the phases") {
    NEEDS_TRAIN();
    const fs::path& run = undisturbed().run;
    const TemporaryFolder folder;
    const std::string shards = " --json --shards " + sample_data().shards.string();
    CHECK(missing_words(program("evaluate " + run.string() + shards).out, {"\"step\":8"}) == "");
    CHECK(program("export " + run.string() + " --format nvidia --output " + (folder / "m.pt").string()).exit_code == 0);
    for (const std::string command : {"audit ", "inspect ", "config check ", "evaluate --all --shards x "}) {
        const CommandResult result = program(command + run.string());
        CAPTURE(command);
        CHECK(result.exit_code == 2);
        CHECK(missing_words(result.err, {"is a run with phases", "phases/01_main", "phases/03_decay"}) == "");
    }
    const CommandResult report = program("report " + run.string() + " --output " + (folder / "page.html").string());
    INFO(report.err);
    CHECK(report.exit_code == 0);
    CHECK(missing_words(report.out, {" 39 "}) == "");  // 20 + 11 + 8 steps
    CHECK(missing_words(read_text(folder / "page.html"), {">phase<"}) == "");
}

TEST_CASE("an audit finds each phase of a moved run as it was trained") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    fs::copy(undisturbed().run, folder / "moved", fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    fs::remove_all(folder / "moved" / folders[1] / "checkpoints/step_00000003");
    for (const std::string& phase : folders) {
        const CommandResult audit = program("audit " + (folder / "moved" / phase).string());
        INFO(audit.err << audit.out);
        CHECK(audit.exit_code == 0);
    }
}

TEST_CASE("config check, config resolve and plan describe each phase") {
    NEEDS_TRAIN();
    const std::string config = undisturbed().config.string();
    CHECK(missing_words(program("config check " + config).out,
                        {"phase main", "phase other", "phase decay", "optimizer.learning_rate", "0.0005"}) == "");
    const json resolved = json::parse(program("config resolve --json " + config).out);
    CHECK(resolved.at("other").at("batch").at("global_batch_size").at("value") == 12);
    CHECK(resolved.at("decay").at("training").at("seed").at("value") == 31);
    const json planned = json::parse(program("plan --json --accelerator a100 --world-size 4 " + config).out);
    double hours = 0;
    for (const auto& [name, phase] : planned.at("phases").items()) hours += phase.at("plan").at(0).at("hours").get<double>();
    CHECK(planned.at("phases").size() == 3);
    CHECK(planned.at("sum").at(0).at("hours").get<double>() == Approx(hours));
    CHECK(missing_words(program("plan --accelerator a100 --world-size 4 " + config).out, {"all 3 phases"}) == "");
    const CommandResult many = program("plan --accelerator a100 --world-size 8 " + config);
    CHECK(many.exit_code == 2);  // the second phase begins with 4 sequences
    CHECK(missing_words(many.err, {"a step of 4 sequences cannot be shared by 8 ranks"}) == "");
    const CommandResult checked = program("preflight --repetitions 2 --max-bytes 4K --steps 2 " + config);
    INFO(checked.err << checked.out);
    CHECK(checked.exit_code == 0);
    CHECK(missing_words(checked.out, {"shards, phase other", "memory, phase decay"}) == "");
}

TEST_CASE("a run with phases goes on from its mirror after the loss of its folder, and runs after_save in each phase") {
    NEEDS_TRAIN();
    const ObjectServer server;
    NEEDS_OBJECT_SERVER(server);
    const TemporaryFolder folder;
    const fs::path config = write_phases(folder), run = folder / "run", saved = folder / "saved";
    const std::string options =
        concat("--set checkpoint.mirror=s3://bucket/phases --set 'checkpoint.after_save=echo \"$1\" >> ", saved.string(), "' ");
    {
        Process process(server.environment() + train_command(config, run, options));
        REQUIRE(wait_until(process,
                           [&] { return server.count("02_other/step_00000003/model.pt") > 0 && fs::exists(run / folders[1]); }));
        REQUIRE(wait_until(process, [&] { return steps_of(run / folders[1]) > 5; }));
        process.send(SIGKILL);
        process.wait();
    }
    fs::remove_all(run);
    const CommandResult rest = run_command(server.environment() + train_command(config, run, options));
    INFO(rest.err);
    CHECK(rest.exit_code == 0);
    for (std::size_t i = 1; i < folders.size(); ++i) {
        const std::string model = concat(folders[i], "/checkpoints/", last_steps[i], "/model.pt");
        if (fs::exists(run / model)) CHECK((read_text(run / model) == read_text(undisturbed().run / model)));
    }
    CHECK(fs::exists(run / folders[2] / "checkpoints" / last_steps[2]));
    CHECK(missing_words(read_text(saved), {folders[0], folders[2]}) == "");
}
