#include "system/small_run.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <set>
#include <sstream>

#include "core/error.h"
#include "core/files/files.h"
#include "support/made_once.h"

namespace bertpretrain::testing {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// Checks a command whose result the other tests need.
CommandResult needed(CommandResult result) {
    check(result.exit_code == 0, "a test's preparation failed: ", result.err);
    return result;
}

void make_sample_data(const SampleData& made) {
    const std::string text = made.text.string(), vocabulary = made.vocabulary.string();
    needed(run_command(data_program + " extract data_tools/sample/encyclopaedia.xml --output " + text));
    needed(run_command(data_program + " vocabulary " + text + " --size 800 --output " + vocabulary));
    needed(run_command(data_program + " shard " + text + " --vocabulary " + vocabulary + " --output " + made.shards.string() +
                       " --name sample --sequence-length 64 --max-predictions 10 --duplicate-factor 1 --shards 2" +
                       " --held-out-shards 1"));
}

}  // namespace

const SampleData& sample_data() {
    static const SampleData data = [] {
        const auto in = [](const fs::path& folder) {
            return SampleData{folder, folder / "text.txt", folder / "vocab.txt", folder / "shards"};
        };
        return in(made_once("sample_data", [&](const fs::path& folder) { make_sample_data(in(folder)); }));
    }();
    return data;
}

const fs::path& shards_without_labels() {
    static const fs::path shards =
        made_once("shards_without_labels",
                  [](const fs::path& folder) {
                      needed(run_command(data_program + " shard " + sample_data().text.string() + " --vocabulary " +
                                         sample_data().vocabulary.string() + " --output " + (folder / "shards").string() +
                                         " --objective mlm --name sample --sequence-length 64 --shards 2 --held-out-shards 1"));
                  }) /
        "shards";
    return shards;
}

json small_experiment() {
    json experiment = json::parse(R"({
        "model": {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 256,
                  "vocab_size": 800, "max_position_embeddings": 64},
        "data": {"sequence_length": 64},
        "batch": {"micro_batch_size": 4, "gradient_accumulation_steps": 2},
        "optimizer": {"name": "adamw", "learning_rate": 0.001},
        "schedule": {"total_steps": 20, "warmup_ratio": 0.1},
        "training": {"precision": "fp32", "device": "cpu", "cpu_matmul": "onednn", "seed": 7},
        "checkpoint": {"save_every_steps": 3, "keep_last": 100},
        "evaluation": {"every_steps": 10, "max_sequences": 32}
    })");
    experiment["data"]["training_shards"] = sample_data().shards.string();
    return experiment;
}

fs::path write_experiment(const fs::path& folder, const json& patch) {
    json experiment = small_experiment();
    experiment.merge_patch(patch);
    const fs::path file = folder / "experiment.json";
    write_text(file, experiment.dump(2));
    return file;
}

bool make_one_batch(const fs::path& shards, const fs::path& from) {
    fs::create_directory(shards);
    const CommandResult copied = run_command(python() + " - " + (from / "sample_training_0000.h5").string() + " " +
                                             (shards / "part_training_0000.h5").string() + R"( <<'END'
import sys
import h5py
with h5py.File(sys.argv[1]) as whole, h5py.File(sys.argv[2], "w") as part:
    for name in whole:
        part[name] = whole[name][:16]
END)");
    if (copied.exit_code != 0) std::cerr << "warning: no Python with h5py: " << copied.err;
    return copied.exit_code == 0;
}

std::string train_command(const fs::path& config, const fs::path& run, const std::string& options) {
    return "env OMP_NUM_THREADS=1 " + train_program + " train " + config.string() + " --output " + run.string() + " " + options;
}

CommandResult train(const fs::path& config, const fs::path& run, const std::string& options) {
    return run_command(train_command(config, run, options));
}

const FinishedRun& finished_run() {
    static const FinishedRun finished = [] {
        const fs::path made =
            made_once("finished_run", [](const fs::path& folder) { needed(train(write_experiment(folder), folder / "run")); });
        return FinishedRun{made / "experiment.json", made / "run"};
    }();
    return finished;
}

void copy_finished_run(const fs::path& to) {
    fs::copy(finished_run().run, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
}

double largest_difference(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    if (a.size() != b.size() || a.empty()) return std::numeric_limits<double>::infinity();
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const json in_a = json::parse(a[i]).flatten(), in_b = json::parse(b[i]).flatten();
        for (const auto& [key, value] : in_a.items()) {
            if (key == "/bytes_sent") continue;
            const double x = value.get<double>(), y = in_b.at(key).get<double>(), tie = key.ends_with("accuracy") ? 0.07 : 0;
            const double difference = std::max(0.0, std::fabs(x - y) - tie) / std::max(1.0, std::fabs(x));
            largest = difference <= largest ? largest : difference;  // NaN stays
        }
    }
    return largest;
}

std::vector<std::string> numbers_of(const fs::path& run) {
    static const std::set<std::string> by_the_clock{"sequences_per_second",
                                                    "tokens_per_second",
                                                    "model_tflops_per_second",
                                                    "mfu",
                                                    "device_utilization",
                                                    "memory_bytes",
                                                    "step_seconds",
                                                    "data_wait_seconds",
                                                    "communication_seconds",
                                                    "exposed_communication_seconds",
                                                    "forward_seconds",
                                                    "backward_seconds",
                                                    "update_seconds",
                                                    "saving_seconds",
                                                    "evaluation_seconds",
                                                    "probe_seconds",
                                                    "time",
                                                    "elapsed_seconds",
                                                    "chain"};
    std::vector<std::string> numbers;
    std::istringstream lines(read_text(run / "metrics.jsonl"));
    for (std::string line; std::getline(lines, line);) {
        auto measured = nlohmann::ordered_json::parse(line);
        for (const std::string& key : by_the_clock) measured.erase(key);
        numbers.push_back(measured.dump());
    }
    return numbers;
}

std::string first_difference(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
        const std::string in_a = i < a.size() ? a[i] : "(nothing)", in_b = i < b.size() ? b[i] : "(nothing)";
        if (in_a != in_b) return concat("line ", i + 1, ": ", in_a, "\nis not ", in_b);
    }
    return {};
}

std::map<std::string, std::string> files_of(const fs::path& run) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(run)) {
        const std::string name = fs::relative(entry.path(), run).string();
        const bool of_each_start = name == "log.txt" || name == ".lock" || name == "exit.json";
        if (entry.is_regular_file() && !of_each_start) files[name] = read_file(entry.path());
    }
    return files;
}

std::string missing_words(const std::string& message, const std::vector<std::string>& words) {
    for (const std::string& word : words)
        if (message.find(word) == std::string::npos) return concat("\"", word, "\" is missing in:\n", message);
    return {};
}

}  // namespace bertpretrain::testing
