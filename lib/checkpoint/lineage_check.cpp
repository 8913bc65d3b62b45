#include "checkpoint/lineage_check.h"

#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/checkpoint_store.h"
#include "checkpoint/lineage.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/foreign_json.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;
using State = LineageFinding::State;

class LineageCheck {
public:
    /// Compares a file with its record, and then the files that it was made from. Reads no file twice for the same digest.
    void compare(const std::string& part, const fs::path& file, const FileDigest& recorded) {
        if (!compared_.emplace(file, recorded.sha256).second) return;
        findings.push_back({part, file.string(), state_of(file, recorded)});
        for (const FileDigest& origin : recorded.made_from) compare("origin of " + part, origin.file, origin);
    }
    void add(const std::string& part, const std::string& what, State state) { findings.push_back({part, what, state}); }

    std::vector<LineageFinding> findings;

private:
    static State state_of(const fs::path& file, const FileDigest& recorded) {
        if (recorded.sha256.empty()) return State::not_recorded;
        std::error_code ignored;
        if (!fs::is_regular_file(file, ignored)) return State::not_here;
        if (fs::file_size(file, ignored) != recorded.bytes) return State::different;
        return digest_of_file(file).sha256 == recorded.sha256 ? State::equal : State::different;
    }

    std::set<std::pair<fs::path, std::string>> compared_;
};

/// What a checkpoint's files do not contain: vocabulary, data and origin.
void compare_inputs(LineageCheck& check, const Lineage& lineage) {
    if (lineage.vocabulary) check.compare("vocabulary", lineage.vocabulary->file, *lineage.vocabulary);
    for (const DataLineage& data : lineage.data) {
        const fs::path folder = data.folder;
        if (data.manifest) check.compare("manifest", folder / data.manifest->file, *data.manifest);
        for (const FileDigest& shard : data.shards) check.compare("shard", folder / shard.file, shard);
        for (const FileDigest& text : data.corpus) check.compare("corpus", text.file, text);
        if (data.corpus.empty()) check.add("corpus", folder.string(), State::not_recorded);
    }
    for (const FileDigest& file : lineage.started_from) check.compare("started from", file.file, file);
}

/// A predecessor is named by the digest of its lineage.json.
void compare_predecessors(LineageCheck& check, const Lineage& lineage, const fs::path& checkpoints) {
    for (const LineageLink& link : lineage.predecessors) {
        const fs::path file = checkpoints / step_folder_name(link.step) / lineage_file;
        State state = State::not_recorded;
        if (!link.sha256.empty()) {
            state = State::not_here;
            if (exists_here(file)) state = digest_of_file(file).sha256 == link.sha256 ? State::equal : State::different;
        }
        check.add("predecessor", file.string(), state);
    }
}

void compare_export(LineageCheck& check, const fs::path& output) {
    const fs::path file = record_of_export(output, export_record), origin = record_of_export(output, lineage_file);
    const auto document = parse_foreign_json(read_file(file));
    try {
        for (const FileDigest& exported : read_digests(document.at("files"), file.string()))
            check.compare("exported", fs::is_directory(output) ? output / exported.file : output, exported);
        if (!exists_here(origin)) return check.add("lineage", origin.string(), State::not_here);
        const bool is_equal = digest_of_file(origin).sha256 == document.at("lineage_sha256").get<std::string>();
        check.add("lineage", origin.string(), is_equal ? State::equal : State::different);
    } catch (const nlohmann::json::exception& error) {
        throw DataError(concat(file.string(), ": damaged: it is not the record of an export (", error.what(), ")"));
    }
    const Lineage lineage = read_lineage(origin);
    check.add("checkpoint", step_folder_name(lineage.step), State::not_here);
    compare_inputs(check, lineage);
}

}  // namespace

fs::path record_of_export(const fs::path& output, std::string_view name) {
    if (fs::is_directory(output)) return output / name;
    return output.string() + "." + std::string(name);
}

std::string_view name_of(State state) {
    switch (state) {
        case State::equal:
            return "equal";
        case State::different:
            return "different";
        case State::not_here:
            return "not here";
        case State::not_recorded:
            return "not recorded";
    }
    return "";
}

std::vector<LineageFinding> check_lineage(const fs::path& path) {
    LineageCheck check;
    if (exists_here(record_of_export(path, export_record))) {
        compare_export(check, path);
        return std::move(check.findings);
    }
    const fs::path file = path / lineage_file;
    if (!exists_here(file))
        throw DataError(concat(path.string(), ": has no ", lineage_file, ", so its lineage is not known: it was written by an ",
                               "older version, or the process was killed right after the checkpoint was complete"));
    const Lineage lineage = read_lineage(file);
    for (const FileDigest& digest : lineage.files) check.compare("checkpoint", path / digest.file, digest);
    compare_inputs(check, lineage);
    compare_predecessors(check, lineage, fs::absolute(path).lexically_normal().parent_path());
    return std::move(check.findings);
}

}  // namespace bertpretrain
