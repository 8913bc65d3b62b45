#pragma once
// The files of a checkpoint folder: their names and layouts, writing the small ones, and verification.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "archive/pt_layout.h"
#include "archive/pt_writer.h"
#include "checkpoint/training_state.h"

namespace bertpretrain {

inline constexpr std::string_view model_file = "model.pt", optimizer_file = "optimizer.pt", progress_file = "training_state.json",
                                  settings_file = "settings.json", complete_file = "COMPLETE.json";
/// Key in training_state.json; present where the step was evaluated before it was saved.
inline constexpr const char* held_out_loss_key = "held_out_mlm_loss";
inline constexpr std::string_view best_link = "best";
inline constexpr int checkpoint_format_version = 1;

/// Layout of model.pt: {name: tensor}, with the aliases after all parameters. The storage of parameter i has the key i.
PtLayout model_layout(const TrainingState& state);

/// Layout of optimizer.pt: {"step": step, "state": {moment: {name: tensor}}}.
PtLayout optimizer_layout(const TrainingState& state);

/// Returns a tensor's storage key in optimizer.pt; `moment` is the index in TrainingState::moments, `tensor` that in its tensors.
std::string moment_storage(std::size_t moment, std::size_t tensor);

/// Writes a small file and fsyncs it. @throws CheckpointError naming the file and the system's reason
FileSummary write_flushed(const std::filesystem::path& file, std::string_view content);

/// Whether the file or folder exists and is accessible; never throws.
bool exists_here(const std::filesystem::path& path) noexcept;

/// Returns all entries of a folder of checkpoints; empty where the folder does not exist.
/// @throws CheckpointError when an existing folder cannot be listed
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

/// Removes a folder recursively. @throws CheckpointError
void remove_folder(const std::filesystem::path& folder);

/// Renames a folder; an empty folder at `to` is replaced. @throws CheckpointError
void move_folder(const std::filesystem::path& from, const std::filesystem::path& to);

/// Fsyncs a folder's entries. @throws CheckpointError
void flush_folder(const std::filesystem::path& folder);

/// Returns the bytes that a checkpoint takes on disk, with 1 MiB allowed for the small files.
std::uint64_t checkpoint_bytes(const TrainingState& state);

/// The content of COMPLETE.json, which marks a checkpoint as complete.
struct CompleteMark {
    std::int64_t step = 0;
    std::map<std::string, FileSummary> files;  ///< by name in the checkpoint's folder
};

void write_mark(const std::filesystem::path& folder, const CompleteMark& mark);

/// Reads COMPLETE.json. @throws CheckpointError when it is missing, damaged or of a newer format
CompleteMark read_mark(const std::filesystem::path& folder);

/// @throws CheckpointError naming the first file that is missing or whose size differs from the mark
void check_sizes(const std::filesystem::path& folder, const CompleteMark& mark);

/// Reads every file that the mark lists, on up to 16 threads, and compares sizes and CRC-32.
/// @returns a description of the first mismatch in contents (file, and tensor of a .pt file); empty when all files are intact
/// @param sign_of_life called for each part, from any thread
/// @throws CheckpointError when a file cannot be read or has the wrong size
std::string damage_of_contents(const std::filesystem::path& folder, const CompleteMark& mark,
                               const std::function<void()>& sign_of_life = {});

/// Like damage_of_contents. @throws CheckpointError naming the damage, or the file that cannot be read
void check_contents(const std::filesystem::path& folder, const CompleteMark& mark);

/// Parses a JSON file. @throws CheckpointError naming the file when it cannot be read or is not JSON
nlohmann::json read_json(const std::filesystem::path& file);

}  // namespace bertpretrain
