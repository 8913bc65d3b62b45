#include "text/reader/text_lineage.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/files.h"

namespace bertpretrain {
namespace {

std::filesystem::path lineage_of(std::filesystem::path text) { return text += text_lineage_ending; }

}  // namespace

std::vector<FileDigest> origin_of_text(const std::filesystem::path& text, const FileDigest& digest) {
    const std::filesystem::path file = lineage_of(text);
    if (!std::filesystem::is_regular_file(file)) return {};
    try {
        FileDigest recorded = read_digest(nlohmann::json::parse(read_file(file), nullptr, false), file.string());
        if (recorded.sha256 == digest.sha256) return std::move(recorded.made_from);
    } catch (const DataError&) { return {}; }
    return {};
}

void write_text_lineage(const std::filesystem::path& text, FileDigest digest, std::vector<FileDigest> made_from) {
    digest.file = text.filename().string();
    digest.made_from = std::move(made_from);
    write_atomically(lineage_of(text), to_json(digest).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace bertpretrain
