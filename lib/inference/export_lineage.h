#pragma once
// Carries the lineage of a checkpoint along with its export.

#include <filesystem>
#include <string>

#include "inference/loaded_model.h"

namespace bertpretrain {

/// Writes the checkpoint's lineage.json, unchanged, and export.json (lineage_check.h), which names its digest and those of the
/// exported files: into an exported folder, or as FILE.lineage.json and FILE.export.json beside an exported file. Does nothing
/// for weights of other programs and for checkpoints without lineage.json.
/// @param written the files, complete  @param output their final place, by which the records are named
/// @throws DataError
void write_export_lineage(const LoadedModel& model, const std::string& format, const std::filesystem::path& written,
                          const std::filesystem::path& output);

}  // namespace bertpretrain
