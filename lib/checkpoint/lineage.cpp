#include "checkpoint/lineage.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint_files.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/foreign_json.h"
#include "shards/manifest.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr int lineage_version = 1;

ordered_json to_json(const DataLineage& data) {
    return {{"use", data.use},
            {"folder", data.folder},
            {"manifest", data.manifest ? to_json(*data.manifest) : ordered_json()},
            {"shards", to_json(data.shards)},
            {"corpus", to_json(data.corpus)}};
}

ordered_json to_json(const SessionLineage& session) {
    return {{"begin", session.begin},
            {"ranks", session.ranks},
            {"settings_sha256", session.settings_sha256},
            {"computed_by", session.computed_by},
            {"program", session.program},
            {"version", session.version},
            {"commit", session.commit},
            {"libraries", session.libraries}};
}

ordered_json to_json(const LineageLink& link) { return {{"step", link.step}, {"lineage_sha256", link.sha256}}; }

template <class Item>
ordered_json list_of(const std::vector<Item>& items) {
    ordered_json list = ordered_json::array();
    for (const Item& item : items) list.push_back(to_json(item));
    return list;
}

std::optional<FileDigest> optional_digest(const json& found, const std::string& where) {
    return found.is_null() ? std::nullopt : std::optional(read_digest(found, where));
}

DataLineage read_data(const json& data, const std::string& where) {
    return {data.at("use").get<std::string>(), data.at("folder").get<std::string>(), optional_digest(data.at("manifest"), where),
            read_digests(data.at("shards"), where), read_digests(data.at("corpus"), where)};
}

SessionLineage read_session(const json& session) {
    const auto text = [&](const char* key) { return session.at(key).get<std::string>(); };
    return {session.at("begin").get<std::int64_t>(),
            session.at("ranks").get<std::int64_t>(),
            text("settings_sha256"),
            text("computed_by"),
            text("program"),
            text("version"),
            text("commit"),
            session.at("libraries").get<std::map<std::string, std::string>>()};
}

}  // namespace

std::string lineage_text(const Lineage& lineage) {
    const ordered_json document{{"format_version", lineage_version},
                                {"step", lineage.step},
                                {"files", to_json(lineage.files)},
                                {"vocabulary", lineage.vocabulary ? to_json(*lineage.vocabulary) : ordered_json()},
                                {"data", list_of(lineage.data)},
                                {"started_from", to_json(lineage.started_from)},
                                {"sessions", list_of(lineage.sessions)},
                                {"predecessors", list_of(lineage.predecessors)}};
    return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

Lineage read_lineage(const fs::path& file) { return parse_lineage(read_file(file), file.string()); }

Lineage parse_lineage(const std::string& text, const std::string& where) {
    const auto document = parse_foreign_json(text);
    try {
        if (const int version = document.at("format_version").get<int>(); version > lineage_version)
            throw DataError(concat(where, ": has format_version ", version, ", this program supports up to ", lineage_version,
                                   "\n  do: use a newer bertpretrain"));
        Lineage lineage;
        lineage.step = document.at("step").get<std::int64_t>();
        lineage.files = read_digests(document.at("files"), where);
        lineage.vocabulary = optional_digest(document.at("vocabulary"), where);
        for (const json& data : document.at("data")) lineage.data.push_back(read_data(data, where));
        lineage.started_from = read_digests(document.at("started_from"), where);
        for (const json& session : document.at("sessions")) lineage.sessions.push_back(read_session(session));
        for (const json& link : document.at("predecessors"))
            lineage.predecessors.push_back({link.at("step").get<std::int64_t>(), link.at("lineage_sha256").get<std::string>()});
        return lineage;
    } catch (const json::exception& error) {
        throw DataError(concat(where, ": damaged: it is not a record of lineage (", error.what(), ")"));
    }
}

std::vector<FileDigest> digests_of_checkpoint(const fs::path& folder, const std::function<void()>& sign_of_life) {
    std::vector<std::string> names{std::string(complete_file)};
    for (const auto& [name, summary] : read_mark(folder).files) names.push_back(name);
    std::sort(names.begin(), names.end());
    std::vector<FileDigest> digests;
    for (const std::string& name : names) digests.push_back(digest_of_file(folder / name, name, sign_of_life));
    return digests;
}

DataLineage lineage_of_data(const std::string& use, const fs::path& folder, const std::vector<fs::path>& shards) {
    DataLineage data{use, folder.string(), std::nullopt, {}, {}};
    const std::optional<Manifest> manifest = read_manifest(folder);
    if (manifest) {
        data.manifest = digest_of_file(folder / manifest_name, manifest_name);
        data.corpus = manifest->corpus;
    }
    for (const fs::path& shard : shards) {
        const std::string name = shard.filename().string();
        const ShardRecord* record = manifest ? manifest->find(name) : nullptr;
        const auto bytes =
            record != nullptr && record->bytes > 0 ? static_cast<std::uint64_t>(record->bytes) : fs::file_size(shard);
        data.shards.push_back({name, bytes, record != nullptr ? record->sha256 : "", {}});
    }
    return data;
}

}  // namespace bertpretrain
