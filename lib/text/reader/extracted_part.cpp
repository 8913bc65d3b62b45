#include "text/reader/extracted_part.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/disk.h"
#include "core/files/files.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view part_mark = ".part", record_end = ".json";
constexpr std::string_view record_begin = R"({"bertpretrain_data": "extract --part")";  // how each record's text begins
constexpr const char* what_key = "bertpretrain_data";
constexpr const char* what = "extract --part";

fs::path folder_of(const fs::path& output) { return output.has_parent_path() ? output.parent_path() : fs::path("."); }

std::string text_of(const Part& part, const ExtractedPart& record) {
    Json json = {{"part", part.text()}};
    json.update(to_json(record));
    const std::string members = json.dump(2, ' ', false, Json::error_handler_t::replace);
    return concat(record_begin, ",", std::string_view(members).substr(1), "\n");
}

}  // namespace

Json to_json(const ExtractedPart& part) {
    Json json = {{"request", part.request}, {"minimum_sentences", part.minimum_sentences}, {"most_bad", part.most_bad}};
    if (!part.text) return json;
    json["text"] = to_json(*part.text);
    json["inputs"] = to_json(part.inputs);
    for_each_count(part.counts, [&](const char* key, const auto& value) { json["counts"][key] = value; });
    json["records"] = {{"all", part.records.records}, {"with_field", part.records.with_field}};
    return json;
}

ExtractedPart read_extracted_part(const nlohmann::json& json, const std::string& where) {
    ExtractedPart part;
    part.request = json.at("request").get<ExtractedPart::Request>();
    part.minimum_sentences = json.at("minimum_sentences").get<std::int64_t>();
    part.most_bad = json.at("most_bad").get<double>();
    if (!json.contains("text")) return part;
    part.text = read_digest(json.at("text"), where);
    part.inputs = read_digests(json.at("inputs"), where);
    for_each_count(part.counts, [&](const char* key, auto& value) { json.at("counts").at(key).get_to(value); });
    part.records = {json.at("records").at("all").get<std::int64_t>(), part.counts.bad_records,
                    json.at("records").at("with_field").get<std::map<std::string, std::int64_t>>()};
    return part;
}

fs::path part_text_file(const fs::path& output, const Part& part) {
    return name_of_part(concat(output.string(), part_mark), part, "");
}

fs::path part_record_file(const fs::path& output, const Part& part) {
    return name_of_part(concat(output.string(), part_mark), part, record_end);
}

std::vector<Part> parts_of_text(const fs::path& output) {
    std::vector<Part> parts;
    const std::string begin = concat(output.filename().string(), part_mark);
    std::error_code failure;
    for (const fs::path& file : folder_entries(folder_of(output), failure))
        if (const auto part = part_of_name(file.filename().string(), begin, record_end)) parts.push_back(*part);
    std::ranges::sort(parts, {}, [](const Part& part) { return std::pair(part.count, part.number); });
    return parts;
}

void require_no_parts(const fs::path& output) {
    const std::vector<Part> parts = parts_of_text(output);
    if (parts.empty()) return;
    throw ConfigError(concat(part_record_file(output, parts.front()).string(), ": belongs to a part of ", output.string(),
                             ", whose parts have not been joined\n  do: run `bertpretrain_data join ", output.string(),
                             "`, or choose another --output, or remove the parts"));
}

std::optional<fs::path> text_with_part(const fs::path& file) {
    const std::string name = file.filename().string();
    const std::size_t mark = name.rfind(part_mark);
    if (mark == name.npos || !part_of_name(name, name.substr(0, mark + part_mark.size()), record_end)) return std::nullopt;
    std::string begin(record_begin.size(), '\0');
    std::ifstream in(file, std::ios::binary);
    if (!in) return std::nullopt;  // also an object's address
    in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    if (in.gcount() != 0 && begin != record_begin) return std::nullopt;  // one that begins is empty for a moment
    return file.parent_path() / name.substr(0, mark);
}

std::optional<ExtractedPart> read_extracted_part(const fs::path& output, const Part& part) {
    const fs::path file = part_record_file(output, part);
    if (!fs::exists(file)) return std::nullopt;
    try {
        const auto json = nlohmann::json::parse(read_file(file));
        if (json.at(what_key) == what && json.at("part") == part.text()) return read_extracted_part(json, file.string());
    } catch (const nlohmann::json::exception&) {
    } catch (const Error&) {}
    return std::nullopt;
}

void begin_part_record(const fs::path& output, const Part& part, const ExtractedPart& record) {
    const fs::path file = part_record_file(output, part);
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    if (!(out << text_of(part, record) << std::flush)) throw DataError(failed_write(file, errno));
}

void write_part_record(const fs::path& output, const Part& part, const ExtractedPart& record) {
    write_atomically(part_record_file(output, part), text_of(part, record));
}

std::string difference(const ExtractedPart::Request& found, const ExtractedPart::Request& expected) {
    for (const auto& [key, value] : expected) {
        const auto theirs = found.find(key);
        if (theirs == found.end() || theirs->second != value)
            return concat(key, " is ",
                          theirs == found.end()    ? "missing"
                          : theirs->second.empty() ? "\"\""
                                                   : theirs->second,
                          ", expected ", value.empty() ? "\"\"" : value);
    }
    return found.size() == expected.size() ? "" : "it has further settings";
}

}  // namespace bertpretrain
