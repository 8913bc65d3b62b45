#include "shards/check/shard_checker.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>

#include "core/error.h"
#include "core/files/files.h"
#include "core/files/sha256.h"
#include "core/output/phase_progress.h"
#include "core/strings.h"
#include "core/threads/threads.h"
#include "shards/check/row_check.h"
#include "shards/check/shard_verification.h"
#include "shards/dynamic_masking.h"
#include "shards/entropy.h"
#include "shards/shard_reader.h"
#include "tokens/models/unknown_tokens.h"
#include "tokens/models/vocabulary_casing.h"
#include "tokens/vocabulary/vocabulary_file.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

/// Entropies are compared with a tolerance, because labels may be summed in any order.
constexpr double entropy_tolerance = 1e-9;

using LabelCounts = std::unordered_map<std::int32_t, std::int64_t>;

/// The results for one file: its report, and what is merged over all files.
struct Findings {
    CheckedShard shard;
    LabelCounts labels;
    RowKeys keys;
    std::optional<std::string> problem;
};

std::string plain(const Error& error) {
    const std::string message = error.what();
    const std::size_t kind = message.find(" error: ");
    return kind == std::string::npos ? message : message.substr(kind + 8);
}

std::int32_t id_limit(const std::optional<Vocabulary>& vocabulary) {
    return vocabulary ? vocabulary->size() : std::numeric_limits<std::int32_t>::max();
}

void add_rows(const ShardRows& rows, const std::optional<SpecialIds>& ids, PassageSample& sample, Findings& findings) {
    ShardRows unmasked = rows;
    restore_text(unmasked);
    findings.shard.content.add(rows, unmasked, ids);
    for (std::int64_t r = 0; r < rows.rows; ++r) {
        const auto labels = rows.masked_lm_ids_RP.begin() + r * rows.max_predictions;
        std::for_each(labels, labels + row_masked(rows, r), [&](std::int32_t label) { ++findings.labels[label]; });
    }
    findings.keys.add(rows, unmasked);
    sample.count(findings.shard.kind, unmasked);
}

/// Returns 0 for a file that cannot be read.
double file_bytes(const fs::path& file) {
    std::error_code failure;
    const std::uintmax_t bytes = fs::file_size(file, failure);
    return failure ? 0 : static_cast<double>(bytes);
}

void compare(const std::string& where, const char* what, std::int64_t found, std::int64_t expected) {
    if (found != expected) throw DataError(concat(where, ": has ", what, " ", found, ", the manifest says ", expected));
}

const char* labels_text(bool has_labels) { return has_labels ? "next_sentence_labels" : "no next_sentence_labels"; }

void check_shard(const fs::path& file, const std::optional<Manifest>& manifest, const std::optional<Vocabulary>& vocabulary,
                 PassageSample& sample, PhaseProgress& progress, Findings& findings) {
    const auto special_ids = vocabulary ? std::optional(vocabulary->specials()) : std::nullopt;
    CheckedShard& shard = findings.shard;
    const ShardRecord* record = manifest ? manifest->find(shard.file) : nullptr;
    const ShardReader reader(file);
    shard.sequence_length = reader.sequence_length();
    shard.max_predictions = reader.max_predictions();
    shard.has_labels = reader.has_labels();
    if (manifest) {
        if (record == nullptr)
            throw DataError(concat(file.string(), ": is not in the manifest\n  do: move it out of the folder"));
        compare(file.string(), "sequence_length", shard.sequence_length, manifest->settings.sequence_length);
        compare(file.string(), "max_predictions", shard.max_predictions, manifest->settings.max_predictions);
        compare(file.string(), "rows", reader.rows(), record->rows);
        if (shard.has_labels != manifest->settings.has_labels())
            throw DataError(concat(file.string(), ": has ", labels_text(shard.has_labels), ", but the manifest says that its ",
                                   "objective is \"", manifest->settings.objective, "\""));
    }
    for (std::int64_t first = 0; first < reader.rows(); first += reader.band_rows()) {
        const ShardRows rows = reader.read(first, std::min(reader.band_rows(), reader.rows() - first));
        check_rows(rows, id_limit(vocabulary), file.string(), first);
        add_rows(rows, special_ids, sample, findings);
        progress.advance(file_bytes(file) * static_cast<double>(rows.rows) / static_cast<double>(reader.rows()));
    }
    if (record != nullptr) {
        compare(file.string(), "tokens", shard.content.tokens, record->tokens);
        compare(file.string(), "masked", shard.content.masked, record->masked);
        if (shard.content.documents > shard.content.rows && !manifest->settings.best_fit)
            throw DataError(concat(file.string(), ": has packed rows, but the manifest says best_fit false"));
    }
    shard.is_sound = true;
}

std::optional<Manifest> manifest_or_problem(const fs::path& folder, FolderReport& report) {
    try {
        return read_manifest(folder);
    } catch (const DataError& error) {
        report.problems.push_back(plain(error));
        return std::nullopt;
    }
}

std::optional<Vocabulary> find_vocabulary(const fs::path& folder, const std::optional<fs::path>& given,
                                          const std::optional<Manifest>& manifest, FolderReport& report) {
    const fs::path file = given.value_or(manifest ? folder / manifest->vocabulary.file : tokenizer_in_folder(folder));
    if (!given && (file.empty() || !fs::exists(file))) {
        if (manifest) report.problems.push_back(concat(file.string(), ": is missing, but the manifest lists it"));
        return std::nullopt;
    }
    Vocabulary vocabulary = Vocabulary::read(file);
    if (manifest && (vocabulary.size() != manifest->vocabulary.size || vocabulary.crc32() != manifest->vocabulary.crc32))
        report.problems.push_back(concat(file.string(), ": is another vocabulary than the one the shards were made with: ",
                                         vocabulary.size(), " tokens, checksum ", vocabulary.crc32(), "; the manifest says ",
                                         manifest->vocabulary.size, ", ", manifest->vocabulary.crc32));
    else if (manifest && vocabulary.has_own_rules() && hexadecimal(sha256(read_file(file))) != manifest->vocabulary.sha256)
        report.problems.push_back(concat(file.string(), ": is another file than the one the shards were made with: its tokens ",
                                         "are the same, but not its SHA-256, which the manifest records"));
    return vocabulary;
}

std::vector<fs::path> all_shards(const fs::path& folder) {
    if (!fs::is_directory(folder)) find_shards(folder, ShardKind::training);  // throws the message
    require_complete(folder);
    std::vector<fs::path> files = list_files(folder, {".h5", ".hdf5"});
    std::erase_if(files, [](const fs::path& file) { return !shard_kind(file); });
    if (files.empty()) find_shards(folder, ShardKind::training);
    return files;
}

Duplicates find_duplicates(std::vector<Findings>& all) {
    RowKeys training, held_out;
    for (Findings& findings : all) {
        (findings.shard.kind == ShardKind::training ? training : held_out).add(findings.keys);
        findings.keys = {};
    }
    return count_duplicates(training, held_out);
}

/// Compares the casing of the text with that of the vocabulary's tokens.
void check_casing(const Manifest& manifest, const Vocabulary& vocabulary, FolderReport& report) {
    if (vocabulary.has_own_rules()) return;
    const TokenCasing found = casing_of(vocabulary);
    const bool is_cased = manifest.settings.casing == "cased";
    if (is_cased ? !found.is_uncased() : !found.is_cased()) return;
    report.problems.push_back(
        concat("the vocabulary is ", is_cased ? "uncased" : "cased", " (", with_thousands(found.cased_only), " of its ",
               with_thousands(found.tokens), " tokens have capital letters or accents), but the ", "rows were made of ",
               manifest.settings.casing, " text\n  do: make the shards again; `shard` takes the casing from the vocabulary"));
}

/// Warns of more unknown words than a vocabulary that fits the text leaves: far below 1 % in BERT's own shards.
void check_unknown(const Vocabulary& vocabulary, FolderReport& report) {
    for (const auto& [name, content] : {std::pair("training", &report.training), std::pair("held-out", &report.held_out)})
        if (content->unknown_share() > few_unknown)
            report.warnings.push_back(concat(fixed(100 * content->unknown_share(), 1), " % of the tokens of the ", name,
                                             " rows are [UNK]: ", cause_of_unknown(vocabulary), ", and make the shards again"));
}

/// A shard that is opened twice: for the sample, and to be checked. Damage is reported when it is checked.
struct SampledFile {
    const fs::path& file;
    ShardKind kind;
    std::int64_t rows = 0, sequence_length = 0;  ///< 0: cannot be opened
    std::optional<ShardRows> sample;
};

SampledFile open_for_sample(const fs::path& file, const VerifiedShard& verified) {
    SampledFile opened{file, *shard_kind(file), 0, 0, std::nullopt};
    if (verified.problem) return opened;
    try {
        const ShardReader reader(file);
        opened.rows = reader.rows();
        opened.sequence_length = reader.sequence_length();
    } catch (const DataError&) {}
    return opened;
}

/// Reads the first rows of a shard, which are as good as random ones, because rows are shuffled.
void read_sample(SampledFile& from, double share, const std::optional<Vocabulary>& vocabulary) {
    const auto wanted = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(from.rows)));
    if (wanted == 0) return;
    try {
        ShardRows rows = ShardReader(from.file).read(0, std::min(wanted, from.rows));
        check_rows(rows, id_limit(vocabulary), from.file.string());
        restore_text(rows);
        from.sample = std::move(rows);
    } catch (const DataError&) {}
}

/// Samples the rows of all files, in equal shares of each file of a kind.
void sample_passages(const std::vector<fs::path>& files, const std::vector<VerifiedShard>& verified,
                     const std::optional<Vocabulary>& vocabulary, std::size_t threads, PassageSample& sample) {
    std::vector<std::optional<SampledFile>> opened(files.size());
    for_each_index(files.size(), threads, [&](std::size_t i) { opened[i].emplace(open_for_sample(files[i], verified[i])); });
    std::map<ShardKind, double> tokens;
    for (const auto& one : opened)
        tokens[one->kind] += static_cast<double>(one->rows) * static_cast<double>(one->sequence_length);
    PhaseProgress progress("sampling passages", static_cast<double>(files.size()));
    for_each_index(files.size(), threads, [&](std::size_t i) {
        const double share = static_cast<double>(PassageSample::wanted_passages) / std::max(1.0, tokens.at(opened[i]->kind));
        read_sample(*opened[i], std::min(1.0, share), vocabulary);
        progress.advance();
    });
    for (const auto& one : opened)
        if (one->sample) sample.add(one->kind, *one->sample);
    sample.seal();
}

/// Reports shards whose shape differs from the first one's, because a folder is read as one data set.
void compare_shapes(FolderReport& report) {
    const CheckedShard* model = nullptr;
    for (const CheckedShard& shard : report.shards) {
        if (!shard.is_sound) continue;
        if (model == nullptr) model = &shard;
        if (shard.sequence_length != model->sequence_length || shard.max_predictions != model->max_predictions)
            report.problems.push_back(concat(shard.file, ": has sequence_length ", shard.sequence_length, " and max_predictions ",
                                             shard.max_predictions, ", but ", model->file, " has ", model->sequence_length,
                                             " and ", model->max_predictions));
        if (shard.has_labels != model->has_labels)
            report.problems.push_back(concat(shard.file, ": has ", labels_text(shard.has_labels), ", but ", model->file, " has ",
                                             labels_text(model->has_labels)));
    }
}

void sum_up(std::vector<Findings>& all, const std::optional<Manifest>& manifest, FolderReport& report) {
    std::map<std::int32_t, std::int64_t> labels;
    for (Findings& findings : all) {
        if (findings.problem) report.problems.push_back(*findings.problem);
        const CheckedShard& shard = findings.shard;
        ShardContent& sum = shard.kind == ShardKind::training ? report.training : report.held_out;
        sum.add(shard.content);
        if (shard.kind == ShardKind::training)
            for (const auto& [label, count] : findings.labels) labels[label] += count;
        report.shards.push_back(shard);
    }
    report.duplicates = find_duplicates(all);
    std::vector<std::int64_t> counts;
    for (const auto& [label, count] : labels) counts.push_back(count);
    report.unigram_cross_entropy = entropy_of_counts(counts);
    if (manifest && report.problems.empty() &&
        std::abs(report.unigram_cross_entropy - manifest->unigram_cross_entropy) > entropy_tolerance)
        report.problems.push_back(concat("the unigram cross-entropy is ", report.unigram_cross_entropy, ", the manifest says ",
                                         manifest->unigram_cross_entropy));
}

}  // namespace

FolderReport check_shard_folder(const fs::path& folder, const std::optional<fs::path>& vocabulary_file, std::size_t threads) {
    const std::vector<fs::path> files = all_shards(folder);
    FolderReport report;
    const std::optional<Manifest> manifest = manifest_or_problem(folder, report);
    report.has_manifest = fs::exists(folder / manifest_name);
    const std::optional<Vocabulary> vocabulary = find_vocabulary(folder, vocabulary_file, manifest, report);
    if (vocabulary) report.vocabulary_size = vocabulary->size();
    if (manifest) report.rules_version = manifest->rules_version;
    if (manifest && vocabulary) check_casing(*manifest, *vocabulary, report);
    if (manifest) report.duplicate_factor = manifest->settings.duplicate_factor;
    if (manifest)
        for (const ShardRecord& shard : manifest->shards)
            if (!fs::exists(folder / shard.file))
                report.problems.push_back(concat((folder / shard.file).string(), ": is missing, but the manifest lists it"));

    std::vector<Findings> all(files.size());
    const std::vector<VerifiedShard> verified = verify_shards(files, manifest, threads);
    PassageSample sample;
    sample_passages(files, verified, vocabulary, threads, sample);
    PhaseProgress progress("checking rows", std::transform_reduce(files.begin(), files.end(), 0.0, std::plus<>(), file_bytes));
    for_each_index(files.size(), threads, [&](std::size_t i) {
        all[i].shard.file = files[i].filename().string();
        all[i].shard.kind = *shard_kind(files[i]);
        try {
            if (verified[i].problem) throw DataError(*verified[i].problem);
            check_shard(files[i], manifest, vocabulary, sample, progress, all[i]);
        } catch (const DataError& error) { all[i].problem = plain(error); }
    });
    sum_up(all, manifest, report);
    report.passages = sample.result(report.duplicate_factor);
    compare_shapes(report);
    if (vocabulary) check_unknown(*vocabulary, report);
    return report;
}

}  // namespace bertpretrain
