#include "core/files/file_digest.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/input_file.h"

namespace bertpretrain {
namespace {

constexpr std::size_t part_bytes = std::size_t{1} << 20;
constexpr int most_generations = 16;  ///< of `made_from`

[[noreturn]] void refuse_digest(const std::string& where) {
    throw DataError(concat(where, ": damaged: expected {\"file\", \"bytes\", \"sha256\"} with 64 hexadecimal digits or none"));
}

bool is_digest(const std::string& text) {
    return text.empty() || (text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos);
}

FileDigest read_digest(const nlohmann::json& json, const std::string& where, int generations) {
    FileDigest digest;
    try {
        digest.file = json.at("file").get<std::string>();
        digest.bytes = json.at("bytes").get<std::uint64_t>();
        digest.sha256 = json.at("sha256").get<std::string>();
        if (!is_digest(digest.sha256) || generations == 0) refuse_digest(where);
        if (const auto made_from = json.find("made_from"); made_from != json.end())
            for (const nlohmann::json& one : *made_from) digest.made_from.push_back(read_digest(one, where, generations - 1));
    } catch (const nlohmann::json::exception&) { refuse_digest(where); }
    return digest;
}

}  // namespace

FileDigest digest_of_file(const std::filesystem::path& file, const std::string& name, const std::function<void()>& sign_of_life) {
    const InputFile input(file);
    RunningDigest digest;
    std::string part(part_bytes, '\0');
    while (const std::size_t count = input.read_at(digest.bytes(), part.data(), part.size())) {
        digest.add(std::string_view(part).substr(0, count));
        if (sign_of_life) sign_of_life();
    }
    return digest.finish(name.empty() ? file.string() : name);
}

nlohmann::ordered_json to_json(const FileDigest& digest) {
    nlohmann::ordered_json json{{"file", digest.file}, {"bytes", digest.bytes}, {"sha256", digest.sha256}};
    if (!digest.made_from.empty()) json["made_from"] = to_json(digest.made_from);
    return json;
}

nlohmann::ordered_json to_json(const std::vector<FileDigest>& digests) {
    auto list = nlohmann::ordered_json::array();
    for (const FileDigest& digest : digests) list.push_back(to_json(digest));
    return list;
}

FileDigest read_digest(const nlohmann::json& json, const std::string& where) {
    return read_digest(json, where, most_generations);
}

std::vector<FileDigest> read_digests(const nlohmann::json& json, const std::string& where) {
    if (!json.is_array()) refuse_digest(where);
    std::vector<FileDigest> digests;
    for (const nlohmann::json& one : json) digests.push_back(read_digest(one, where));
    return digests;
}

void RunningDigest::add(std::string_view bytes) {
    hash_.add(bytes);
    bytes_ += bytes.size();
}

FileDigest RunningDigest::so_far(const std::string& name) const { return {name, bytes_, hexadecimal(hash_.so_far()), {}}; }

FileDigest RunningDigest::finish(const std::string& name) { return {name, bytes_, hexadecimal(hash_.finish()), {}}; }

}  // namespace bertpretrain
