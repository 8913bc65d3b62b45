#pragma once
// The files of a checkpoint folder: their names, their layouts, and writing the small ones.

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
                                  settings_file = "settings.json", vocabulary_file = "vocab.txt", complete_file = "COMPLETE.json";
/// In training_state.json, where the step was evaluated before it was saved.
inline constexpr const char* held_out_loss_key = "held_out_mlm_loss";
inline constexpr std::string_view best_link = "best";
inline constexpr int checkpoint_format_version = 1;

/// model.pt: {name: tensor}, aliases behind the tensors that they name. The storage of parameter i has the key i.
PtLayout model_layout(const TrainingState& state);

/// optimizer.pt: {"step": step, "state": {moment: {name: tensor}}}.
PtLayout optimizer_layout(const TrainingState& state);

/// The storage key of a tensor in optimizer.pt, where `moment` counts TrainingState::moments and `tensor` its tensors.
std::string moment_storage(std::size_t moment, std::size_t tensor);

/// Writes a small file and forces it to the disk. @throws CheckpointError naming the file and the system's reason
FileSummary write_flushed(const std::filesystem::path& file, std::string_view content);

/// Whether there is such a file or folder that we may see; never throws.
bool exists_here(const std::filesystem::path& path) noexcept;

/// Everything in a folder of checkpoints; nothing where there is no such folder.
/// @throws CheckpointError when it cannot be listed, which does not mean that it is empty
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

/// Removes a folder with all that is in it. @throws CheckpointError
void remove_folder(const std::filesystem::path& folder);

/// Renames a folder; an empty folder at `to` is replaced. @throws CheckpointError
void move_folder(const std::filesystem::path& from, const std::filesystem::path& to);

/// Forces a folder's entries to the disk. @throws CheckpointError
void flush_folder(const std::filesystem::path& folder);

/// What a checkpoint takes on the disk, the small files generously.
std::uint64_t checkpoint_bytes(const TrainingState& state);

/// What COMPLETE.json says.
struct CompleteMark {
    std::int64_t step = 0;
    std::map<std::string, FileSummary> files;  ///< by name in the checkpoint's folder
};

void write_mark(const std::filesystem::path& folder, const CompleteMark& mark);

/// @throws CheckpointError when the folder has no mark, or one that is damaged or of a newer format
CompleteMark read_mark(const std::filesystem::path& folder);

/// @throws CheckpointError naming the first file that is missing or has another size than the mark says
void check_sizes(const std::filesystem::path& folder, const CompleteMark& mark);

/// Reads every file that the mark lists, on all cores, and compares sizes and CRC-32.
/// @returns the damage: the file, of a .pt file the tensor as well, and what was expected; empty when all is whole
/// @param sign_of_life called for each part, from any thread
/// @throws CheckpointError when a file cannot be read, which says nothing of its content
std::string damage_of_contents(const std::filesystem::path& folder, const CompleteMark& mark,
                               const std::function<void()>& sign_of_life = {});

/// @throws CheckpointError naming the damage, or the file that cannot be read
void check_contents(const std::filesystem::path& folder, const CompleteMark& mark);

/// A file's JSON. @throws CheckpointError naming the file when it cannot be read or is no JSON
nlohmann::json read_json(const std::filesystem::path& file);

}  // namespace bertpretrain
