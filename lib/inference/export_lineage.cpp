#include "inference/export_lineage.h"

#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/lineage.h"
#include "checkpoint/lineage_check.h"
#include "core/files.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

/// The digests of an exported file, or of a folder's files by name.
std::vector<FileDigest> digests_of_export(const fs::path& written, const fs::path& output) {
    if (!fs::is_directory(written)) return {digest_of_file(written, output.filename().string())};
    std::vector<FileDigest> digests;
    for (const fs::path& file : list_files(written, {""})) digests.push_back(digest_of_file(file, file.filename().string()));
    return digests;
}

}  // namespace

void write_export_lineage(const LoadedModel& model, const std::string& format, const fs::path& written, const fs::path& output) {
    if (!exists_here(model.folder / complete_file) || !exists_here(model.folder / lineage_file)) return;
    const nlohmann::ordered_json record{{"format_version", 1},
                                        {"format", format},
                                        {"step", model.step},
                                        {"lineage_sha256", digest_of_file(model.folder / lineage_file).sha256},
                                        {"files", to_json(digests_of_export(written, output))}};
    const bool is_folder = fs::is_directory(written);
    const fs::path& place = is_folder ? written : output;
    write_atomically(record_of_export(place, lineage_file), read_file(model.folder / lineage_file));
    write_atomically(record_of_export(place, export_record), record.dump(2) + "\n");
}

}  // namespace bertpretrain
