#pragma once
// Short runs of the built programs, about a second each: the sample encyclopaedia, a vocabulary of 800, a BERT of two layers.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/command.h"
#include "support/files.h"
#include "support/skip.h"

namespace bertpretrain::testing {

inline const std::string train_program = program_folder() + "/bertpretrain",
                         data_program = program_folder() + "/bertpretrain_data";

/// The files that `bertpretrain_data` builds from the sample encyclopaedia (support/made_once.h): 2 training shards, 1 held-out
/// shard, 64 tokens per row.
struct SampleData {
    std::filesystem::path folder, text, vocabulary, shards;
};
const SampleData& sample_data();

/// Returns the folder of shards for masked words alone, without labels of next sentences; made like sample_data().shards.
const std::filesystem::path& shards_without_labels();

/// Returns an experiment on sample_data(): 20 steps of 4 x 2 sequences, a save every 3, an evaluation every 10, dropout 0.1.
/// It fixes the matmul library, so that two runs in bf16 use the same one.
nlohmann::json small_experiment();

/// Writes small_experiment(), changed by a JSON merge patch, to FOLDER/experiment.json and returns its path.
std::filesystem::path write_experiment(const std::filesystem::path& folder,
                                       const nlohmann::json& patch = nlohmann::json::object());
inline std::filesystem::path write_experiment(const TemporaryFolder& folder,
                                              const nlohmann::json& patch = nlohmann::json::object()) {
    return write_experiment(folder.path(), patch);
}

/// Makes a folder with one training shard: the first 16 training rows of `from`. If that is the global batch, every step has the
/// same samples. Returns false, with a warning, if there is no Python with h5py.
bool make_one_batch(const std::filesystem::path& shards, const std::filesystem::path& from = sample_data().shards);

/// Returns the command line of `train`, with one thread, because the model is tiny and tests share the machine.
std::string train_command(const std::filesystem::path& config, const std::filesystem::path& run, const std::string& options = "");
CommandResult train(const std::filesystem::path& config, const std::filesystem::path& run, const std::string& options = "");

/// Returns the folder of an undisturbed run of small_experiment(), with all its checkpoints (3, 6, ... 18, 20). Do not change it.
struct FinishedRun {
    std::filesystem::path config, run;
};
const FinishedRun& finished_run();
/// Copies finished_run(), for tests that change it.
void copy_finished_run(const std::filesystem::path& to);

/// Returns the lines of a run's metrics.jsonl without measured times; numbers as they are written.
std::vector<std::string> numbers_of(const std::filesystem::path& run);
/// Returns an empty text if both are equal, else the first line that differs.
std::string first_difference(const std::vector<std::string>& a, const std::vector<std::string>& b);

/// Returns the largest difference (relative for numbers above 1) between the numbers of two runs that differ only in the order of
/// sums; infinity if they did not take the same steps. Leaves out bytes_sent.
/// Where losses agree to 1e-5, logits do to about 2e-5. The two largest logits of a prediction lie tenths apart, so that about
/// one prediction in 1e4 differs. An accuracy here is a mean over at least 24 sequences, of which the mean over NSP predictions
/// is the coarsest: the chance that more than 7 % of 24 differ, two or more, is below 3e-6. So accuracies count beyond 7 % only.
double largest_difference(const std::vector<std::string>& a, const std::vector<std::string>& b);

/// Returns every file of a run by its path in the run, without the log, the lock and exit.json, which each start changes.
std::map<std::string, std::string> files_of(const std::filesystem::path& run);

/// Returns `message` if it lacks one of `words`, else "": CHECK(missing_words(...) == "") then prints the message.
std::string missing_words(const std::string& message, const std::vector<std::string>& words);

/// Whether a script of the tests could not run: it ended with 77 because Python lacks a package, or there is no Python.
inline bool lacks_package(const CommandResult& script) { return script.exit_code == 77 || script.exit_code == 127; }

}  // namespace bertpretrain::testing

/// Skips the test if `bertpretrain` was not built.
#define NEEDS_TRAIN()                                                   \
    if (!std::filesystem::exists(bertpretrain::testing::train_program)) \
    SKIP_TEST(bertpretrain::testing::skip::not_built, "the program bertpretrain")
