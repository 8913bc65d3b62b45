#include "shards/build/part_record.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/files.h"
#include "core/files/sha256.h"
#include "core/strings.h"

namespace bertpretrain {

std::optional<PartRecord> read_part(const std::filesystem::path& folder, const BuildPart& part) {
    const std::filesystem::path file = folder / part.record_file();
    if (!std::filesystem::exists(file)) return std::nullopt;
    try {
        const auto json = nlohmann::json::parse(read_file(file));
        return PartRecord{json.at("makes").get<std::string>(), json.at("files").get<std::vector<std::string>>(),
                          manifest_of(json.at("manifest"), file.string()),
                          json.at("label_counts").get<std::vector<std::int64_t>>()};
    } catch (const nlohmann::json::exception&) {
    } catch (const Error&) {}
    return std::nullopt;
}

void write_part(const std::filesystem::path& folder, const BuildPart& part, const PartRecord& record) {
    const nlohmann::ordered_json json = {{"makes", record.makes},
                                         {"files", record.files},
                                         {"manifest", manifest_json(record.manifest)},
                                         {"label_counts", record.label_counts}};
    write_atomically(folder / part.record_file(), json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

std::string difference(const PartRecord& found, const PartRecord& expected) {
    const auto request = [](const PartRecord& record) {
        const nlohmann::json manifest = manifest_json(record.manifest);
        return nlohmann::json{{"settings", manifest.at("settings")},
                              {"vocabulary", manifest.at("vocabulary")},
                              {"rules_version", record.manifest.rules_version},
                              {"shards", record.files.size()}}
            .flatten();
    };
    const nlohmann::json ours = request(found), theirs = request(expected);
    nlohmann::json names = ours;
    names.update(theirs);
    std::vector<std::string> differences;
    for (const auto& [pointer, value] : names.items()) {
        const nlohmann::json here = ours.value(pointer, nlohmann::json()), there = theirs.value(pointer, nlohmann::json());
        if (here == there) continue;
        std::string name = pointer.substr(1);
        std::ranges::replace(name, '/', '.');
        differences.push_back(concat(name, " is ", here.dump(), ", expected ", there.dump()));
    }
    return differences.empty() ? "the text is another one" : join(differences, "; ");
}

std::string digest_of_request(const Manifest& manifest, const std::vector<FileDigest>& texts,
                              const std::vector<std::string>& files) {
    Manifest request = manifest;
    request.shards.clear();
    request.corpus.clear();
    nlohmann::ordered_json json = {{"manifest", manifest_json(request)}, {"files", files}, {"texts", nlohmann::json::array()}};
    for (const FileDigest& text : texts) json["texts"].push_back(text.sha256);
    return hexadecimal(sha256(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
}

}  // namespace bertpretrain
