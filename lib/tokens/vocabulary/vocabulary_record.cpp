#include "tokens/vocabulary/vocabulary_record.h"

#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/file_digest.h"
#include "core/files/files.h"
#include "tokens/vocabulary/vocabulary_file.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

fs::path record_of(fs::path file) { return file += vocabulary_record_ending; }

/// Returns a file's JSON; null if there is none, or if it cannot be read.
nlohmann::json json_in(const fs::path& file) {
    if (std::error_code ignored; !fs::is_regular_file(file, ignored)) return nullptr;
    try {
        return nlohmann::json::parse(read_file(file), nullptr, false);
    } catch (const DataError&) { return nullptr; }
}

std::string text_of(const nlohmann::json& json, const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<Casing> casing_in_record(const fs::path& file) {
    const nlohmann::json record = json_in(record_of(file));
    const std::string casing = text_of(record, "casing");
    if (casing != "cased" && casing != "uncased") return std::nullopt;
    if (text_of(record, "sha256") != digest_of_file(file).sha256) return std::nullopt;
    return casing == "cased" ? Casing::cased : Casing::uncased;
}

std::optional<Casing> casing_in_config(const fs::path& file) {
    if (file.filename() != token_list_name) return std::nullopt;
    const nlohmann::json config = json_in(file.parent_path() / "tokenizer_config.json");
    const auto lowers = config.find("do_lower_case"), strips = config.find("strip_accents");
    if (lowers == config.end() || !lowers->is_boolean()) return std::nullopt;
    if (strips != config.end() && strips->is_boolean() && *strips != *lowers) return std::nullopt;
    return lowers->get<bool>() ? Casing::uncased : Casing::cased;
}

}  // namespace

void write_vocabulary_record(const fs::path& file, Casing casing) {
    auto record = to_json(digest_of_file(file, file.filename().string()));
    record["casing"] = casing == Casing::cased ? "cased" : "uncased";
    write_atomically(record_of(file), record.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

std::optional<Casing> recorded_casing(const fs::path& file) {
    const std::optional<Casing> recorded = casing_in_record(file);
    return recorded ? recorded : casing_in_config(file);
}

}  // namespace bertpretrain
