#pragma once
// manifest.json describes a folder of shards. It is written last, so a folder that has one is complete.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "config/field.h"
#include "core/files/file_digest.h"
#include "shards/mask_spans.h"

namespace bertpretrain {

/// The settings that the samples were made with.
struct SampleSettings {
    std::int64_t sequence_length = 128;
    std::int64_t max_predictions = 20;
    std::int64_t duplicate_factor = 5;
    std::uint64_t seed = 12345;
    double masked_lm_prob = 0.15;
    double short_seq_prob = 0.1;
    std::string casing = "uncased";
    std::string token_rules = "huggingface";
    bool whole_word_masking = false;
    std::string compatible_with = "nothing";
    std::int64_t group_mib = 64;
    double held_out_fraction = 0.1;
    std::string objective = "mlm_nsp";
    bool across_documents = false;
    bool best_fit = false;
    std::int64_t mask_span = 1;
    SpanLengths mask_span_lengths = SpanLengths::fixed;
    bool keep_white_space = false;

    MaskSpans mask_spans() const { return {mask_span, mask_span_lengths}; }
    /// Whether rows have labels of next sentences.
    bool has_labels() const { return objective == "mlm_nsp"; }

    static void describe(auto& self, auto&& field) {
        field("sequence_length", self.sequence_length, required(between(8, 65'536)),
              "Tokens per row, including special tokens and padding.");
        field("max_predictions", self.max_predictions, required(between(1, 65'536)), "Maximum number of masked tokens per row.");
        field("duplicate_factor", self.duplicate_factor, required(between(1, 1e6)),
              "Number of passes over each article, each with other rows and masks.");
        field("seed", self.seed, required(any), "Seed of all random choices.");
        field("masked_lm_prob", self.masked_lm_prob, required(between(0, 1)), "Share of a row's tokens that is masked.");
        field("short_seq_prob", self.short_seq_prob, required(between(0, 1)), "Share of articles split into shorter rows.");
        field("casing", self.casing, required(one_of({"uncased", "cased"})), "Whether tokens keep case and accents.");
        field("token_rules", self.token_rules, one_of({"huggingface", "google", "nvidia"}),
              "The tokenizer whose rules apply to rare characters.");
        field("whole_word_masking", self.whole_word_masking, any, "Whether all pieces of a word are masked together.");
        field("mask_span", self.mask_span, between(1, 64), "Number of neighbouring tokens, or words, that are masked together.");
        field("mask_span_lengths", self.mask_span_lengths, any,
              "Whether all spans have mask_span tokens or words, or at most these.");
        field("compatible_with", self.compatible_with, one_of({"nothing", "nvidia", "google"}),
              "The reference script whose samples these equal value for value.");
        field("group_mib", self.group_mib, between(1, 1024),
              "Approximate text size in MiB of the groups within which next sentences are drawn and rows shuffled.");
        field("held_out_fraction", self.held_out_fraction, required(between(0, 1)), "Share of articles that is held out.");
        field("objective", self.objective, one_of({"mlm_nsp", "mlm"}),
              "What rows are for. mlm_nsp: masked words and next sentences. mlm: masked words alone, without labels of next "
              "sentences.");
        field("across_documents", self.across_documents, any,
              "With objective mlm, whether a row may hold the text of several articles.");
        field("best_fit", self.best_fit, any,
              "With objective mlm, whether articles are packed by best-fit, each as a sequence of its own.");
        field("keep_white_space", self.keep_white_space, any,
              "With objective mlm, whether articles are tokenized as they are written, with their line ends and indentation.");
    }
};

struct VocabularyRecord {
    std::string file = "vocab.txt";
    std::int64_t size = 0;
    std::int64_t crc32 = 0;
    std::string sha256;  ///< of a tokenizer.json, in hexadecimal digits; empty for a vocab.txt, which the CRC-32 describes

    static void describe(auto& self, auto&& field) {
        field("file", self.file, required(any), "Name of the vocabulary file in this folder.");
        field("size", self.size, required(between(1, 2147483647)), "Number of tokens.");
        field("crc32", self.crc32, required(between(0, 4294967295)), "CRC-32 of the tokens, each followed by a newline.");
        field("sha256", self.sha256, any, "SHA-256 of a tokenizer.json. Empty: the file is a list of tokens.");
    }
};

struct ShardRecord {
    std::string file;
    std::int64_t rows = 0;
    std::int64_t tokens = 0;
    std::int64_t masked = 0;
    std::int64_t bytes = 0;  ///< 0: not recorded, as in manifests of older versions
    std::int64_t crc32 = 0;
    std::string sha256 = {};  ///< in hexadecimal digits; empty: not recorded, as in manifests of older versions

    static void describe(auto& self, auto&& field) {
        field("file", self.file, required(any), "Name of the shard in this folder.");
        field("rows", self.rows, required(at_least(1)), "Number of samples.");
        field("tokens", self.tokens, required(at_least(1)), "Number of tokens, without padding.");
        field("masked", self.masked, required(at_least(0)), "Number of masked tokens.");
        field("bytes", self.bytes, at_least(0), "Size of the file in bytes.");
        field("crc32", self.crc32, required(between(0, 4294967295)), "CRC-32 of the file's bytes.");
        field("sha256", self.sha256, any, "SHA-256 of the file's bytes. Empty: not recorded.");
    }
};

/// The version of the rules by which `shard` makes rows of text, without --compatible-with. The same text and settings give the
/// same bytes within a version. 1: articles were held out one by one. 2: equal articles are on the same side.
inline constexpr std::int64_t current_rules_version = 2;

struct Manifest {
    SampleSettings settings;
    VocabularyRecord vocabulary;
    std::vector<ShardRecord> shards;   ///< sorted by file
    double unigram_cross_entropy = 0;  ///< nats per masked token: entropy of the labels of all training shards
    std::vector<FileDigest> corpus;    ///< the files of text, in the order in which they were read; empty: not recorded
    std::int64_t rules_version = 1;    ///< 1 also where the file has none: older programs, and reference scripts' samples

    /// Returns the record of a file name, or nullptr if it is not listed.
    const ShardRecord* find(const std::string& file) const;
};

inline constexpr const char* manifest_name = "manifest.json";
/// Marks a folder whose shards are still being made, by a build that is not divided into parts (build/build_part.h). A folder
/// that has it, or one of a part, but no manifest is incomplete.
inline constexpr const char* building_name = "building.json";

/// Returns a folder's manifest, or nullopt if it has none. @throws DataError if it is damaged or of a newer version
std::optional<Manifest> read_manifest(const std::filesystem::path& folder);
/// Writes the manifest atomically. @throws DataError
void write_manifest(const std::filesystem::path& folder, const Manifest& manifest);
/// The manifest as the JSON of its file, and read from it. @param where named in messages  @throws ConfigError, DataError
nlohmann::ordered_json manifest_json(const Manifest& manifest);
Manifest manifest_of(nlohmann::json document, const std::string& where);

enum class ShardKind { training, held_out };

/// Returns the kind of a `.h5` or `.hdf5` file by NVIDIA's naming convention: training if its name contains "training",
/// otherwise held-out if it contains "test". Returns nullopt for all other files, and for hidden
/// ones, such as the ._x.h5 that macOS adds.
std::optional<ShardKind> shard_kind(const std::filesystem::path& file);

/// The sums over a manifest's shards of one kind.
struct ShardTotals {
    std::int64_t shards = 0, rows = 0, tokens = 0, masked = 0;
};
ShardTotals shard_totals(const Manifest& manifest, ShardKind kind);

/// @throws DataError if `bertpretrain_data shard` is still writing the folder, or was stopped while writing it
void require_complete(const std::filesystem::path& folder);

/// What to do about a folder without held-out rows, for messages.
inline constexpr const char* advice_without_held_out =
    "\n  do: make shards with `bertpretrain_data shard --held-out-fraction 0.01`, set data.held_out_shards to a folder that has "
    "such rows, or train without evaluation (evaluation.every_steps=0)";

/// Returns the folder's shards of one kind, sorted by name. Opens none of them.
/// @throws DataError if the folder is missing or incomplete, has no such shards, or lacks one that its manifest lists
std::vector<std::filesystem::path> find_shards(const std::filesystem::path& folder, ShardKind kind);
/// The same for several folders, one after the other.
std::vector<std::filesystem::path> find_shards(const std::vector<std::filesystem::path>& folders, ShardKind kind);

}  // namespace bertpretrain
