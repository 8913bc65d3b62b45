#include "shards/manifest.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "config/read.h"
#include "config/write.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/files/local_path.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::int64_t format_version = 1;

/// Sums over the shards of one kind.
struct Totals {
    std::int64_t shards = 0, rows = 0, tokens = 0, masked = 0;

    static void describe(auto& self, auto&& field) {
        field("shards", self.shards, required(at_least(0)), "Number of files.");
        field("rows", self.rows, required(at_least(0)), "Number of samples.");
        field("tokens", self.tokens, required(at_least(0)), "Number of tokens, without padding.");
        field("masked", self.masked, required(at_least(0)), "Number of masked tokens.");
    }
    bool operator==(const Totals&) const = default;
};

/// The manifest without its list of shards.
struct Frame {
    struct Both {
        Totals training, held_out;
        static void describe(auto& self, auto&& field) {
            field("training", self.training, required(any), "Sums over the training shards.");
            field("held_out", self.held_out, required(any), "Sums over the held-out shards.");
        }
    };
    std::int64_t version = format_version;
    std::int64_t rules_version = 1;
    SampleSettings settings;
    VocabularyRecord vocabulary;
    double unigram_cross_entropy = 0;
    Both totals;

    static void describe(auto& self, auto&& field) {
        field("format_version", self.version, required(at_least(1)), "Version of the manifest's format.");
        field("rules_version", self.rules_version, at_least(1), "Version of the rules that made the samples from text.");
        field("settings", self.settings, required(any), "The settings that the samples were made with.");
        field("vocabulary", self.vocabulary, required(any), "The vocabulary of the token ids.");
        field("unigram_cross_entropy", self.unigram_cross_entropy, required(at_least(0)),
              "Entropy of the training shards' masked tokens, in nats per token.");
        field("totals", self.totals, required(any), "Sums over all shards of a kind.");
    }
};

Frame::Both sum_up(const Manifest& manifest) {
    Frame::Both both;
    for (const ShardRecord& shard : manifest.shards) {
        Totals& totals = shard_kind(shard.file) == ShardKind::training ? both.training : both.held_out;
        ++totals.shards;
        totals.rows += shard.rows;
        totals.tokens += shard.tokens;
        totals.masked += shard.masked;
    }
    return both;
}

/// Refuses a file name from a manifest that refers to another folder.
void require_plain_name(const std::string& name, const std::string& where) {
    if (fs::path(name).filename() != name || name == "." || name == "..")
        throw DataError(concat(where, ": the file name \"", name, "\" refers to another folder; expected a plain file name"));
}

/// Moves a member out of a JSON object. Returns an empty list where there is none.
json take_list(json& document, const char* name) {
    json list = json::array();
    if (const auto found = document.find(name); found != document.end()) {
        list.swap(*found);
        document.erase(found);
    }
    return list;
}

}  // namespace

Manifest manifest_of(json document, const std::string& where) {
    if (!document.is_object()) throw DataError(concat(where, ": is not a JSON object"));
    const auto version = document.find("format_version");
    if (version != document.end() && version->is_number_integer() && version->get<std::int64_t>() > format_version)
        throw DataError(concat(where, ": has format_version ", version->dump(), ", this program supports up to ", format_version,
                               "\n  do: use a newer bertpretrain"));
    const json shards = take_list(document, "shards"), corpus = take_list(document, "corpus");
    if (!shards.is_array() || shards.empty()) throw DataError(concat(where, ": \"shards\" must be a non-empty list"));
    const Frame frame = read_config<Frame>(document, where);
    Manifest manifest{
        frame.settings,     frame.vocabulary, {}, frame.unigram_cross_entropy, read_digests(corpus, concat(where, ": corpus")),
        frame.rules_version};
    require_plain_name(manifest.vocabulary.file, where);
    for (std::size_t i = 0; i < shards.size(); ++i) {
        manifest.shards.push_back(read_config<ShardRecord>(shards[i], concat(where, ": shards[", i, "]")));
        const std::string& name = manifest.shards.back().file;
        require_plain_name(name, where);
        if (!shard_kind(name)) throw DataError(concat(where, ": \"", name, "\" is not the name of a training or held-out shard"));
        if (i > 0 && manifest.shards[i - 1].file >= name)
            throw DataError(concat(where, ": \"shards\" is not sorted at \"", name, "\""));
    }
    const Frame::Both sums = sum_up(manifest);
    if (sums.training != frame.totals.training || sums.held_out != frame.totals.held_out)
        throw DataError(concat(where, ": \"totals\" are not the sums of \"shards\"; the file was edited or damaged"));
    return manifest;
}

const ShardRecord* Manifest::find(const std::string& file) const {
    const auto found = std::find_if(shards.begin(), shards.end(), [&](const ShardRecord& shard) { return shard.file == file; });
    return found == shards.end() ? nullptr : &*found;
}

std::optional<Manifest> read_manifest(const fs::path& folder) {
    const fs::path file = folder / manifest_name;
    if (!fs::exists(file)) return std::nullopt;
    try {
        return manifest_of(parse_settings(read_file(file), file.string()), file.string());
    } catch (const ConfigError& error) {  // from the strict settings reader; here it means a damaged file
        std::string message = error.what();
        if (const std::string kind = "config error: "; message.starts_with(kind)) message.erase(0, kind.size());
        throw DataError(message);
    }
}

ordered_json manifest_json(const Manifest& manifest) {
    const Frame frame{format_version,      manifest.rules_version,         manifest.settings,
                      manifest.vocabulary, manifest.unigram_cross_entropy, sum_up(manifest)};
    ordered_json document = write_config(frame);
    if (manifest.rules_version == 1) document.erase("rules_version");         // the same bytes as from older programs
    if (!manifest.settings.best_fit) document["settings"].erase("best_fit");  // likewise
    if (!manifest.settings.keep_white_space) document["settings"].erase("keep_white_space");  // likewise
    if (manifest.settings.mask_span == 1)
        for (const char* setting : {"mask_span", "mask_span_lengths"}) document["settings"].erase(setting);  // likewise
    if (manifest.vocabulary.sha256.empty()) document["vocabulary"].erase("sha256");
    if (!manifest.corpus.empty()) document["corpus"] = to_json(manifest.corpus);
    document["shards"] = ordered_json::array();
    for (const ShardRecord& shard : manifest.shards) {
        document["shards"].push_back(write_config(shard));
        if (shard.sha256.empty()) document["shards"].back().erase("sha256");
    }
    return document;
}

void write_manifest(const fs::path& folder, const Manifest& manifest) {
    write_atomically(folder / manifest_name, manifest_json(manifest).dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

std::optional<ShardKind> shard_kind(const fs::path& file) {
    const std::string name = file.filename().string();
    if (name.starts_with('.') || (!name.ends_with(".h5") && !name.ends_with(".hdf5"))) return std::nullopt;
    if (name.find("training") != std::string::npos) return ShardKind::training;
    if (name.find("test") != std::string::npos) return ShardKind::held_out;
    return std::nullopt;
}

ShardTotals shard_totals(const Manifest& manifest, ShardKind kind) {
    ShardTotals totals;
    for (const ShardRecord& shard : manifest.shards) {
        if (shard_kind(shard.file) != kind) continue;
        ++totals.shards;
        totals.rows += shard.rows;
        totals.tokens += shard.tokens;
        totals.masked += shard.masked;
    }
    return totals;
}

namespace {

/// Whether a folder has the mark of a build or of a part of one.
bool has_building_mark(const fs::path& folder) {
    std::error_code failure;
    const std::vector<fs::path> entries = folder_entries(folder, failure);
    return std::ranges::any_of(entries, [](const fs::path& entry) {
        const std::string name = entry.filename().string();
        return name.starts_with("building") && name.ends_with(".json");
    });
}

}  // namespace

void require_complete(const fs::path& folder) {
    if (fs::exists(folder / manifest_name) || !has_building_mark(folder)) return;
    const bool has_parts = !fs::exists(folder / building_name);
    throw DataError(concat(folder.string(),
                           ": its shards are not complete: `bertpretrain_data shard` is still writing them, or was ",
                           "stopped\n  do: ",
                           has_parts ? "make all parts, and then run `bertpretrain_data join` on the folder"
                                     : "wait for it, or run the same command again"));
}

namespace {

/// "NAME: what is wrong (3 files ...)"
std::string first_of(const fs::path& folder, const std::vector<std::string>& files, std::string_view what, std::string_view all) {
    return concat((folder / files.front()).string(), what,
                  files.size() > 1 ? concat(" (", files.size(), " files ", all, ")") : "");
}

/// Detects an interrupted copy of a folder, which looks complete, but a run on it would train on part of the text only; and
/// shards of another build in it, whose held-out articles, vocabulary or length may be others.
void require_listed_shards(const fs::path& folder, ShardKind kind, const std::vector<fs::path>& files) {
    const std::optional<Manifest> manifest = read_manifest(folder);
    if (!manifest) return;
    std::vector<std::string> missing;
    for (const ShardRecord& record : manifest->shards) {
        const bool here =
            std::any_of(files.begin(), files.end(), [&](const fs::path& file) { return file.filename() == record.file; });
        if (!here && shard_kind(record.file) == kind) missing.push_back(record.file);
    }
    if (!missing.empty())
        throw DataError(
            concat(first_of(folder, missing, concat(": is missing, but ", manifest_name, " lists it"), "are missing"),
                   "\n  do: copy the folder again; to train without this shard, remove its entry and subtract it from ",
                   "\"totals\" in ", manifest_name));
    std::vector<std::string> strange;
    for (const fs::path& file : files)
        if (const std::string name = file.filename().string(); manifest->find(name) == nullptr) strange.push_back(name);
    if (!strange.empty())
        throw DataError(
            concat(first_of(folder, strange, concat(": is not listed in ", manifest_name), "are not"),
                   ", so that it may be of another build\n  do: move it out of the folder; to train on several builds, ",
                   "name several folders in data.training_shards; where all of these files belong together, as in a run that ",
                   "trains on them already, remove ", manifest_name));
}

}  // namespace

std::vector<fs::path> find_shards(const fs::path& folder, ShardKind kind) {
    const char* word = kind == ShardKind::training ? "training" : "test";
    const std::string wanted = concat("a folder with .h5 or .hdf5 files whose names contain \"", word, "\"");
    if (const std::string why = not_local(folder.string()); !fs::exists(folder) && !why.empty())
        throw DataError(concat(folder.string(), ": ", why));
    if (!fs::is_directory(folder))
        throw DataError(
            concat(folder.string(), fs::exists(folder) ? ": is not a folder" : ": does not exist", "; expected ", wanted,
                   "\n  do: make shards with `bertpretrain_data shard` (data_tools/README.md), or name another folder"));
    require_complete(folder);
    std::vector<fs::path> files = list_files(folder, {".h5", ".hdf5"});
    const std::size_t all = files.size();
    std::erase_if(files, [&](const fs::path& file) { return shard_kind(file) != kind; });
    require_listed_shards(folder, kind, files);
    if (files.empty() && all > 0 && kind == ShardKind::held_out)
        throw DataError(concat(folder.string(), ": has no held-out rows: none of its shards has \"test\" in its name",
                               advice_without_held_out));
    if (files.empty())
        throw DataError(concat(folder.string(), ": ",
                               all == 0 ? "contains no .h5 or .hdf5 file" : "none of its shards has such a name", "; expected ",
                               wanted, "\n  do: make shards with `bertpretrain_data shard`, or choose another folder"));
    return files;
}

std::vector<fs::path> find_shards(const std::vector<fs::path>& folders, ShardKind kind) {
    std::vector<fs::path> files;
    for (const fs::path& folder : folders)
        for (fs::path& file : find_shards(folder, kind)) files.push_back(std::move(file));
    return files;
}

}  // namespace bertpretrain
