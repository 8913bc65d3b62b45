#include "text/reader/text_lineage.h"

#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/files.h"
#include "storage/remote_object.h"

namespace bertpretrain {
namespace {

std::filesystem::path lineage_of(std::filesystem::path text) { return text += text_lineage_ending; }

/// Returns a record's text; nothing where it is missing or cannot be read.
std::optional<std::string> text_of_record(const std::filesystem::path& record) {
    try {
        if (is_remote_address(record.string())) {
            RemoteObject object(parse_remote_address(record.string()));
            if (object.exists()) return object.read(0, object.bytes());
        } else if (std::filesystem::is_regular_file(record)) {
            return read_file(record);
        }
    } catch (const DataError&) { return {}; } catch (const ConfigError&) {
        return {};
    }  // S3 may answer 403 for what is missing
    return {};
}

}  // namespace

std::vector<FileDigest> origin_of_text(const std::filesystem::path& text, const FileDigest& digest) {
    const std::filesystem::path file = lineage_of(text);
    const std::optional<std::string> record = text_of_record(file);
    if (!record) return {};
    try {
        FileDigest recorded = read_digest(nlohmann::json::parse(*record, nullptr, false), file.string());
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
