#include "checkpoint/mirror_index.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint_files.h"
#include "core/error.h"

namespace bertpretrain {
namespace {

using nlohmann::json;

constexpr std::int64_t format_version = 1;
constexpr std::size_t longest_name = 200;

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
    throw CheckpointError(
        concat(where, ": damaged: ", what,
               "\n  do: give checkpoint.mirror the address of an empty folder, or of a folder that this program has written"));
}

/// A name without a path, because files are created by it.
std::string read_name(const json& text, const std::string& where) {
    std::string name = text.get<std::string>();
    constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    if (name.empty() || name.front() == '.' || name.size() > longest_name || name.find_first_not_of(allowed) != name.npos)
        refuse(where, "it has a name that is not the name of a file");
    return name;
}

MirroredCheckpoint read_checkpoint(const json& from, const std::string& where) {
    MirroredCheckpoint checkpoint{from.at("step").get<std::int64_t>(), read_name(from.at("folder"), where),
                                  read_digests(from.at("files"), where), from.at("abandoned").get<bool>()};
    for (const FileDigest& file : checkpoint.files) {
        read_name(file.file, where);
        if (file.sha256.empty()) refuse(where, concat(file.file, " has no digest"));
    }
    if (checkpoint.step < 0 || checkpoint.find(complete_file) == nullptr)
        refuse(where, concat("its checkpoint of step ", checkpoint.step, " has no ", complete_file));
    return checkpoint;
}

}  // namespace

const FileDigest* MirroredCheckpoint::find(std::string_view file) const {
    const auto found = std::ranges::find(files, file, &FileDigest::file);
    return found == files.end() ? nullptr : &*found;
}

const MirroredCheckpoint* MirrorIndex::find(std::int64_t step) const {
    const auto found =
        std::ranges::find_if(checkpoints, [&](const MirroredCheckpoint& one) { return one.step == step && !one.abandoned; });
    return found == checkpoints.end() ? nullptr : &*found;
}

void MirrorIndex::drop(std::size_t index) {
    std::vector<std::string>& names = unfinished[checkpoints[index].folder];
    for (const FileDigest& file : checkpoints[index].files) names.push_back(file.file);
    checkpoints.erase(checkpoints.begin() + static_cast<std::ptrdiff_t>(index));
}

std::string mirror_text(const MirrorIndex& index) {
    nlohmann::ordered_json document{{"format_version", format_version}};
    if (!index.run_id.empty()) document["run_id"] = index.run_id;
    document["checkpoints"] = nlohmann::ordered_json::array();
    for (const MirroredCheckpoint& one : index.checkpoints)
        document["checkpoints"].push_back(
            {{"step", one.step}, {"folder", one.folder}, {"abandoned", one.abandoned}, {"files", to_json(one.files)}});
    document["unfinished"] = index.unfinished;
    return document.dump(1) + "\n";
}

MirrorIndex parse_mirror(const std::string& text, const std::string& where) {
    MirrorIndex index;
    try {
        const json document = json::parse(text);
        if (const auto version = document.at("format_version").get<std::int64_t>(); version != format_version)
            throw CheckpointError(concat(where, ": format_version is ", version, "; this program reads version ", format_version,
                                         "\n  do: use the newer program that wrote it"));
        if (const auto id = document.find("run_id"); id != document.end()) index.run_id = read_name(*id, where);
        for (const json& one : document.at("checkpoints")) index.checkpoints.push_back(read_checkpoint(one, where));
        for (const auto& [folder, files] : document.at("unfinished").items())
            for (const json& file : files) index.unfinished[read_name(folder, where)].push_back(read_name(file, where));
    } catch (const json::exception& error) {
        refuse(where, concat("it is not the list of a mirror's checkpoints (", error.what(), ")"));
    } catch (const DataError&) { refuse(where, "it has a digest that is none"); }
    std::ranges::sort(index.checkpoints, {}, &MirroredCheckpoint::step);
    return index;
}

}  // namespace bertpretrain
