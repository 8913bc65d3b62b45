// Experiments with phases: what each phase is, and what is refused.
#include "plan/training_phases.h"

#include <filesystem>

#include "config/write.h"
#include "core/error.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

constexpr const char* three_phases = R"({
    "model": {"model_type": "modernbert", "global_rope_theta": 10000.0},
    "data": {"training_shards": "short", "objective": "mlm", "sequence_length": 1024},
    "schedule": {"name": "constant", "total_steps": 100},
    "training": {"seed": 7},
    "checkpoint": {"mirror": "s3://bucket/run"},
    "phases": [
        {"name": "main"},
        {"name": "long", "model": {"global_rope_theta": 160000.0}, "data": {"training_shards": "long", "sequence_length": 8192}},
        {"name": "decay", "model": {"global_rope_theta": 160000.0}, "data": {"training_shards": "long", "sequence_length": 8192},
         "schedule": {"name": "wsd", "total_steps": 10, "warmup_ratio": null}, "training": {"seed": 3}}
    ]
})";

std::vector<TrainingPhase> phases_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
    const TemporaryFolder folder;
    write_text(folder / "e.json", text);
    return request_phases(folder / "e.json", overrides, "runs/e");
}

std::string refusal(const std::string& text, const std::vector<std::string>& overrides = {}) {
    try {
        phases_of(text, overrides);
    } catch (const ConfigError& error) { return error.what(); }
    return "";
}

/// three_phases with another phase at its end.
std::string with(const std::string& phase) {
    std::string text = three_phases;
    text.insert(text.rfind(']'), ", " + phase);
    return text;
}

}  // namespace

TEST_CASE("a phase is the rest of the file with its own settings merged into it, in a folder of its own") {
    const auto phases = phases_of(three_phases);
    REQUIRE(phases.size() == 3);
    CHECK(phases[0].folder == "runs/e/phases/01_main");
    CHECK(phases[2].folder == "runs/e/phases/03_decay");
    CHECK(phases[1].experiment.settings.data.sequence_length == 8192);
    CHECK(phases[1].experiment.settings.schedule.total_steps == 100);
    CHECK(phases[2].experiment.settings.schedule.warmup_ratio == ScheduleConfig().warmup_ratio);
    CHECK(phases[2].experiment.settings.checkpoint.mirror == "s3://bucket/run/03_decay");
    CHECK(phases[1].experiment.origins.at("data.sequence_length") == Origin::file);
}

TEST_CASE("each later phase begins with the weights and moments of the one before, and with other samples") {
    const auto phases = phases_of(three_phases);
    CHECK_FALSE(phases[0].experiment.settings.initialization.init_from);
    const InitializationConfig& second = phases[1].experiment.settings.initialization;
    CHECK(second.init_from == "runs/e/phases/01_main");
    CHECK(second.init_moments);
    CHECK(second.init_changes == std::vector<std::string>{"global_rope_theta"});
    CHECK(phases[2].experiment.settings.initialization.init_from == "runs/e/phases/02_long");
    CHECK(phases[2].experiment.settings.initialization.init_changes.empty());
    CHECK(phases[0].experiment.settings.training.seed == 7);
    CHECK(phases[1].experiment.settings.training.seed == 8);
    CHECK(phases[2].experiment.settings.training.seed == 3);  // as the phase says
}

TEST_CASE("a file without phases is one phase in the run's folder, and is refused with phases where one run is expected") {
    const auto phases = phases_of(R"({"data": {"training_shards": "short"}})");
    REQUIRE(phases.size() == 1);
    CHECK(phases[0].name.empty());
    CHECK(phases[0].folder == "runs/e");
    const TemporaryFolder folder;
    write_text(folder / "e.json", three_phases);
    CHECK_THROWS_WITH(load_experiment(folder / "e.json", {}), Contains("has phases"));
}

TEST_CASE("an override is for all phases, or for the one that it names") {
    const auto phases = phases_of(three_phases, {"optimizer.learning_rate=0.5", "phases.decay.schedule.total_steps=5",
                                                 "phases.long.optimizer.learning_rate=0.25", "training.device=cpu"});
    CHECK(phases[0].experiment.settings.optimizer.learning_rate == 0.5);
    CHECK(phases[1].experiment.settings.optimizer.learning_rate == 0.25);
    CHECK(phases[2].experiment.settings.schedule.total_steps == 5);
    CHECK(phases[0].experiment.settings.schedule.total_steps == 100);
    CHECK(phases[2].experiment.origins.at("schedule.total_steps") == Origin::command_line);
    CHECK_THAT(refusal(three_phases, {"data.sequence_length=512"}),
               Contains("these phases have values of their own for it: long, decay") &&
                   Contains("--set phases.long.data.sequence_length=512"));
    CHECK_THAT(refusal(three_phases, {"phases.late.training.seed=1"}), Contains("with a NAME of: main, long, decay"));
}

TEST_CASE("what is wrong in a phase is named with its place in the file, and what is wrong outside without") {
    CHECK_THAT(refusal(with(R"({"name": "x", "optimizer": {"lerning_rate": 1}})")),
               Contains("phases[3].optimizer.lerning_rate: no such setting; did you mean optimizer.learning_rate?"));
    CHECK_THAT(refusal(with(R"({"name": "x", "optimizer": {"lerning_rate": null}})")),
               Contains("phases[3].optimizer.lerning_rate: no such setting"));
    CHECK_THAT(refusal(with(R"({"name": "x", "schedule": {"total_steps": 1.5}})")),
               Contains("phases[3].schedule.total_steps = 1.5: must be"));
    CHECK_THAT(refusal(with(R"({"name": "x", "steps": 3})")), Contains("phases[3].steps: no such setting"));
    CHECK_THAT(refusal(with(R"({"name": "x", "data": {"sequence_length": 16384}})")),
               Contains("phase x: ") && Contains("model.max_position_embeddings"));
    CHECK_THAT(refusal(R"({"optimiser": {}, "phases": [{"name": "a", "data": {"training_shards": "s"}}]})"),
               Contains("e.json: optimiser: no such setting"));
    CHECK_THAT(refusal(with(R"({"schedule": {"total_steps": 1}})")),
               Contains("phases[3]: must be a section in { } with a \"name\""));
    CHECK_THAT(refusal(with(R"({"name": "Bad Name"})")), Contains("phases[3].name = \"Bad Name\""));
    CHECK_THAT(refusal(with(R"({"name": "main"})")), Contains("another phase has this name"));
    CHECK_THAT(refusal(R"({"phases": []})"), Contains("phases: must be a list of 1 to 99 phases"));
}

TEST_CASE("a phase may not change the shapes of the model's tensors, or the weights that it begins with") {
    CHECK_THAT(refusal(with(R"({"name": "x", "model": {"hidden_size": 1536}})")),
               Contains("tensors differ from those of phase decay, by model.hidden_size") && Contains("global_rope_theta"));
    CHECK_THAT(refusal(with(R"({"name": "x", "model": {"vocab_size": 50368}})")), Contains("model.vocab_size"));
    CHECK_THAT(refusal(with(R"({"name": "x", "initialization": {"init_from": "other"}})")), Contains("phases[3].initialization"));
    CHECK(refusal(with(R"({"name": "x", "model": {"attention_output_dropout": 0}})")) == "");
}

TEST_CASE("only the path of the phase before may differ between a checkpoint and a resumed phase") {
    const auto phases = phases_of(three_phases);
    ExperimentConfig saved = phases[1].experiment.settings, now = saved;
    saved.initialization.init_from = "/elsewhere/phases/01_main";
    CHECK(fixed_differences(saved, now).empty());
    saved.initialization.init_from = "/elsewhere/phases/01_other";
    CHECK(fixed_differences(saved, now).size() == 1);
    saved.initialization.init_from = "/elsewhere/01_main";
    CHECK(fixed_differences(saved, now).size() == 1);
}

TEST_CASE("--set phases keeps the named phases, in the file's order, or none") {
    const auto two = phases_of(three_phases, {"phases=decay,main", "phases.decay.data.training_shards=mine"});
    REQUIRE(two.size() == 2);
    CHECK(two[0].folder == "runs/e/phases/01_main");
    CHECK(two[1].folder == "runs/e/phases/02_decay");
    CHECK(two[1].experiment.settings.initialization.init_from == "runs/e/phases/01_main");
    const auto none = phases_of(three_phases, {"phases=null", "data.training_shards=mine"});
    REQUIRE(none.size() == 1);
    CHECK(none[0].name.empty());
    CHECK(none[0].folder == "runs/e");
    CHECK(none[0].experiment.settings.data.sequence_length == 1024);
    CHECK_THAT(refusal(three_phases, {"phases=last"}),
               Contains("--set phases=last: no phase is called \"last\", expected some of main, long, decay, or null"));
    CHECK_THAT(refusal(three_phases, {"phases="}), Contains("--set phases=: expected some of main, long, decay, or null"));
    CHECK_THAT(refusal(R"({"data": {"training_shards": "a"}})", {"phases=main"}), Contains("has no phases"));
}

TEST_CASE("what is wrong with a setting of the command line is said of --set, not of the file") {
    const std::string one = R"({"data": {"training_shards": "a"}, "training": {"seed": -1}})";
    CHECK_THAT(refusal(one, {"schedule.steps=5", "optimizer.eps=x"}), Contains("--set schedule.steps: no such setting") &&
                                                                          Contains("--set optimizer.eps = \"x\": must be") &&
                                                                          Contains("e.json: training.seed = -1: must be"));
    CHECK_THAT(refusal(three_phases, {"optimizer.eps=x"}), Contains("phase main: --set optimizer.eps = \"x\": must be"));
}
