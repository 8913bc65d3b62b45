// The files of configs/, as the pages say to start them.
#include <algorithm>
#include <cctype>
#include <regex>
#include <set>

#include "core/error.h"
#include "plan/training_phases.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/plans.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

const fs::path project = PROJECT_FOLDER;

}  // namespace

TEST_CASE("phase 2 begins with what phase 1 leaves, by default and where the pages put it") {
    const ExperimentConfig phase_2 = load_experiment(project / "configs/bert_large_phase2.json", {});
    CHECK(phase_2.initialization.init_from == "runs/bert_large_phase1");  // train's default, runs/NAME of NAME.json
    const std::regex command(" configs/bert_large_phase1\\.json[^`]*--output (\\S+)");
    for (const std::string page : {"configs/README.md", "scripts/launch/README.md"}) {
        INFO(page);
        const std::string text = read_text(project / page);
        for (std::sregex_iterator found(text.begin(), text.end(), command), end; found != end; ++found)
            CHECK((*found)[1].str() == phase_2.initialization.init_from);
    }
}

TEST_CASE("a step of an experiment is as many sequences as it says, on any number of ranks") {
    for (const auto& entry : fs::directory_iterator(project / "configs")) {
        if (entry.path().extension() != ".json" || entry.path().stem() == "pipeline") continue;
        INFO(entry.path().filename().string());
        const ExperimentConfig experiment = request_phases(entry.path(), {}, "run").front().experiment.settings;
        std::smatch said;
        REQUIRE(std::regex_search(experiment.about, said, std::regex("([0-9,]+) sequences")));
        const auto sequences = std::stoll(std::regex_replace(said[1].str(), std::regex(","), ""));
        for (const std::int64_t ranks : {1, 8, 64, 128})
            if (ranks <= sequences) CHECK(plan_of(experiment, ranks).global_batch() == sequences);
    }
}

TEST_CASE("training.cpu_matmul is read under its old name and with its old value") {
    const fs::path file = project / "configs/small.json";
    CHECK(load_experiment(file, {"training.cpu_products=tiles"}).training.cpu_matmul == "amx");
    CHECK(load_experiment(file, {"training.cpu_products=mkl"}).training.cpu_matmul == "mkl");
}

TEST_CASE("every name of another program is answered with a setting that exists, or with advice") {
    const auto settings = list_settings(ExperimentConfig{});
    std::set<std::string_view> seen;
    for (const ForeignName& foreign : ExperimentConfig::foreign_names()) {
        INFO(foreign.name << " " << foreign.path);
        CHECK(seen.insert(foreign.name).second);
        CHECK(std::all_of(foreign.name.begin(), foreign.name.end(),
                          [](char c) { return c == '_' || std::islower(c) || std::isdigit(c); }));
        CHECK(std::any_of(settings.begin(), settings.end(),
                          [&](const Setting& setting) { return setting.path == foreign.path; }) != foreign.path.empty());
        CHECK(!(foreign.path.empty() && foreign.advice.empty()));
    }
}

TEST_CASE("names of Hugging Face's Trainer are answered with ours, alone and in any section") {
    const fs::path file = project / "configs/small.json";
    const auto complaint = [&](const std::string& name) -> std::string {
        try {
            load_experiment(file, {name + "=1"});
        } catch (const ConfigError& error) { return error.what(); }
        return "";
    };
    using Catch::Matchers::Contains;
    CHECK_THAT(complaint("optimizer.lr"), Contains("optimizer.lr: no such setting; did you mean optimizer.learning_rate?"));
    CHECK_THAT(complaint("learning_rate"), Contains("did you mean optimizer.learning_rate?"));
    CHECK_THAT(complaint("batch_size"), Contains("did you mean batch.micro_batch_size?"));
    CHECK_THAT(complaint("training.num_train_epochs"), Contains("did you mean schedule.total_steps? (epochs x"));
    CHECK_THAT(complaint("gradient_accumulation_steps"), Contains("did you mean batch.gradient_accumulation_steps?"));
    CHECK_THAT(complaint("training.fp16"), Contains("did you mean training.precision?"));
    CHECK_THAT(complaint("optimizer.warmup_ratio"), Contains("did you mean schedule.warmup_ratio?"));
    CHECK_THAT(complaint("seed"), Contains("did you mean training.seed?"));
    CHECK_THAT(complaint("model.layers"), Contains("model."));
}

TEST_CASE("the commands that shard a whole Wikipedia make the shards that the experiments name") {
    const std::string page = read_text(project / "data_tools/README.md");
    for (const auto& entry : fs::directory_iterator(project / "configs")) {
        const std::string name = entry.path().stem().string();
        if (entry.path().extension() != ".json" || name == "quickstart" || name == "small" || name == "pipeline") continue;
        for (const TrainingPhase& phase : request_phases(entry.path(), {}, "run")) {
            const DataConfig& data = phase.experiment.settings.data;
            INFO(data.training_shards.first());
            CHECK(page.find(concat("--output ", data.training_shards.first(), " \\\n    --sequence-length ", data.sequence_length,
                                   " ")) != page.npos);
        }
    }
}

TEST_CASE("the quickstart's file finds the shards that scripts/quickstart.sh made") {
    const std::string script = read_text(project / "scripts/quickstart.sh");
    std::smatch dump;
    REQUIRE(std::regex_search(script, dump, std::regex("\ninput=\\$PWD/data_tools/sample/(\\w+)\\.xml")));
    REQUIRE(script.find("output=${output:-quickstart/$name}") != script.npos);
    CHECK(load_experiment(project / "configs/quickstart.json", {}).data.training_shards ==
          "quickstart/" + dump[1].str() + "/shards");
}
