#include "text/reader/text_lineage.h"

#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/files.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "storage/remote_object.h"

namespace bertpretrain {
namespace {

/// Returns a record's text; nothing where it is missing or cannot be read.
std::optional<std::string> text_of_record(const std::filesystem::path& record) {
    try {
        if (is_remote_address(record.string())) {
            RemoteObject object(parse_remote_address(record.string()));
            if (object.exists()) return object.read(0, object.bytes());
        } else if (std::error_code ignored; std::filesystem::is_regular_file(record, ignored)) {  // its name may be too long
            return read_file(record);
        }
    } catch (const DataError&) { return {}; } catch (const ConfigError&) {
        return {};
    }  // S3 may answer 403 for what is missing
    return {};
}

}  // namespace

std::filesystem::path text_lineage_file(std::filesystem::path text) { return text += text_lineage_ending; }

std::optional<FileDigest> recorded_digest(const std::filesystem::path& text) {
    const std::filesystem::path file = text_lineage_file(text);
    const std::optional<std::string> record = text_of_record(file);
    if (!record) return {};
    try {
        return read_digest(nlohmann::json::parse(*record, nullptr, false), file.string());
    } catch (const DataError&) { return {}; }
}

void require_whole_text(const std::filesystem::path& text) {
    if (!std::filesystem::is_regular_file(text)) return;
    const std::optional<FileDigest> recorded = recorded_digest(text);
    const std::uint64_t bytes = std::filesystem::file_size(text);
    if (!recorded || bytes >= recorded->bytes) return;
    const auto shown = [](std::uint64_t size) { return with_thousands(static_cast<std::int64_t>(size)); };
    throw DataError(concat(text.string(), ": has ", shown(bytes), " bytes, but ", text_lineage_file(text).filename().string(),
                           " says that it was written with ", shown(recorded->bytes),
                           "\n  do: copy the file again, or remove that record if you have shortened the file yourself"));
}

std::vector<FileDigest> origin_of_text(const std::filesystem::path& text, const FileDigest& digest) {
    std::optional<FileDigest> recorded = recorded_digest(text);
    if (!recorded) return {};
    if (recorded->sha256 == digest.sha256) return std::move(recorded->made_from);
    log_warning(concat(text.string(), ": is not the text that ", text_lineage_file(text).filename().string(),
                       " describes (another SHA-256): it was changed since, or is damaged; its origin is not recorded"));
    return {};
}

void remove_text_lineage(const std::filesystem::path& text) {
    std::error_code ignored;
    std::filesystem::remove(text_lineage_file(text), ignored);
}

void write_text_lineage(const std::filesystem::path& text, FileDigest digest, std::vector<FileDigest> made_from) {
    digest.file = text.filename().string();
    digest.made_from = std::move(made_from);
    write_atomically(text_lineage_file(text),
                     to_json(digest).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace bertpretrain
