#pragma once
// Runs of the built programs that take a second: the sample encyclopaedia, a vocabulary of 800, a BERT of two layers.

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

/// What `bertpretrain_data` makes of the sample encyclopaedia, once per test program: 2 training shards, 1 held out, 64 tokens
/// per row.
struct SampleData {
    std::filesystem::path folder, text, vocabulary, shards;
};
const SampleData& sample_data();

/// Everything that `train` needs on sample_data(): 20 steps of 4 x 2 sequences, saved every 3, evaluated every 10, dropout 0.1.
/// Two runs in bf16 multiply by the same library, though nothing was kept.
nlohmann::json small_experiment();

/// small_experiment() changed by a JSON merge patch, as the file FOLDER/experiment.json.
std::filesystem::path write_experiment(const TemporaryFolder& folder, const nlohmann::json& patch = nlohmann::json::object());

/// Makes a folder of one training shard of 16 rows: where that is the global batch, every step has the same samples.
/// False, with a warning, where there is no Python with h5py.
bool make_one_batch(const std::filesystem::path& shards);

/// The command line of `train`. One thread: the model is tiny, and tests share the machine.
std::string train_command(const std::filesystem::path& config, const std::filesystem::path& run, const std::string& options = "");
CommandResult train(const std::filesystem::path& config, const std::filesystem::path& run, const std::string& options = "");

/// A run of small_experiment() that nobody disturbed, with all its checkpoints (3, 6, ... 18, 20); leave it as it is.
struct FinishedRun {
    std::filesystem::path config, run;
};
const FinishedRun& finished_run();
/// A copy of finished_run(), to be spoilt.
void copy_finished_run(const std::filesystem::path& to);

/// The lines of a run's metrics.jsonl without what is measured by the clock; numbers as they are written.
std::vector<std::string> numbers_of(const std::filesystem::path& run);
/// Empty when both are equal, else the first line that differs.
std::string first_difference(const std::vector<std::string>& a, const std::vector<std::string>& b);

/// Every file of a run by its name in it, without the log, the lock and exit.json, which each start touches.
std::map<std::string, std::string> files_of(const std::filesystem::path& run);

/// `message` when it lacks one of `words`, else nothing: CHECK(missing_words(...) == "") prints what was said instead.
std::string missing_words(const std::string& message, const std::vector<std::string>& words);

}  // namespace bertpretrain::testing

/// Skips the test where `bertpretrain` was not built.
#define NEEDS_TRAIN()                                                   \
    if (!std::filesystem::exists(bertpretrain::testing::train_program)) \
    SKIP_TEST(bertpretrain::testing::skip::not_built, "the program bertpretrain")
