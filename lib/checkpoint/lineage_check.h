#pragma once
// Compares the files that a lineage.json names with its digests.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// The record beside exported files: {"format_version", "format", "step", "lineage_sha256", "files": [DIGEST]}.
inline constexpr std::string_view export_record = "export.json";

/// Returns the path of a record about an exported folder or file: OUTPUT/NAME or OUTPUT.NAME.
/// @param name export_record or lineage_file
std::filesystem::path record_of_export(const std::filesystem::path& output, std::string_view name);

struct LineageFinding {
    enum class State { equal, different, not_here, not_recorded };

    std::string part;  ///< "checkpoint", "vocabulary", "shard", "corpus", ...
    std::string file;  ///< its path
    State state = State::equal;
};

/// "equal", "different", "not here", "not recorded"
std::string_view name_of(LineageFinding::State state);

/// Reads all files that the lineage of a checkpoint or an export names and that are found: those of a checkpoint in its folder,
/// its predecessors beside it, and the others at the paths that the user gave to the commands that read them.
/// @param path a checkpoint's folder, or what `export` wrote
/// @throws DataError when there is no record of lineage or it is damaged
std::vector<LineageFinding> check_lineage(const std::filesystem::path& path);

}  // namespace bertpretrain
