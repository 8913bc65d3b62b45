#pragma once
// What a folder of shards says about itself: manifest.json, written last, so that a folder with one is complete.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/field.h"

namespace bertpretrain {

/// How the samples were made.
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

    static void describe(auto& self, auto&& field) {
        field("sequence_length", self.sequence_length, required(between(8, 65'536)),
              "Tokens of a row, specials and padding included.");
        field("max_predictions", self.max_predictions, required(between(1, 65'536)), "Masked positions of a row at most.");
        field("duplicate_factor", self.duplicate_factor, required(between(1, 1e6)), "Times each article is used, masked anew.");
        field("seed", self.seed, required(any), "Of all random choices.");
        field("masked_lm_prob", self.masked_lm_prob, required(between(0, 1)), "Share of a row's tokens that is masked.");
        field("short_seq_prob", self.short_seq_prob, required(between(0, 1)), "Share of articles cut into shorter rows.");
        field("casing", self.casing, required(one_of({"uncased", "cased"})), "Whether letters keep case and accents.");
        field("token_rules", self.token_rules, one_of({"huggingface", "google", "nvidia"}), "Whose rules for rare characters.");
        field("whole_word_masking", self.whole_word_masking, any, "Whether a word's pieces are masked together.");
        field("compatible_with", self.compatible_with, one_of({"nothing", "nvidia", "google"}),
              "Whose script made the same samples, value for value.");
        field("group_mib", self.group_mib, between(1, 1024),
              "Random next sentences and the shuffling of rows stay inside groups of about so much text at most.");
        field("held_out_fraction", self.held_out_fraction, required(between(0, 1)), "Share of articles never trained on.");
    }
};

struct VocabularyRecord {
    std::string file = "vocab.txt";
    std::int64_t size = 0;
    std::int64_t crc32 = 0;

    static void describe(auto& self, auto&& field) {
        field("file", self.file, required(any), "Beside the manifest.");
        field("size", self.size, required(between(1, 2147483647)), "Tokens.");
        field("crc32", self.crc32, required(between(0, 4294967295)), "Of the tokens, each with a line end.");
    }
};

struct ShardRecord {
    std::string file;
    std::int64_t rows = 0;
    std::int64_t tokens = 0;
    std::int64_t masked = 0;
    std::int64_t bytes = 0;  ///< 0: the manifest of an older version does not say
    std::int64_t crc32 = 0;

    static void describe(auto& self, auto&& field) {
        field("file", self.file, required(any), "Beside the manifest.");
        field("rows", self.rows, required(at_least(1)), "Samples.");
        field("tokens", self.tokens, required(at_least(1)), "Without padding.");
        field("masked", self.masked, required(at_least(0)), "Positions to predict.");
        field("bytes", self.bytes, at_least(0), "Of the file.");
        field("crc32", self.crc32, required(between(0, 4294967295)), "Of the file's bytes.");
    }
};

struct Manifest {
    SampleSettings settings;
    VocabularyRecord vocabulary;
    std::vector<ShardRecord> shards;   ///< sorted by file
    double unigram_cross_entropy = 0;  ///< nats: entropy of the masked labels' distribution over all training shards

    /// The record of a file's name, null when it is not listed.
    const ShardRecord* find(const std::string& file) const;
};

inline constexpr const char* manifest_name = "manifest.json";
/// Beside shards that are still being made; a folder with it and without a manifest is incomplete.
inline constexpr const char* building_name = "building.json";

/// The manifest of a folder; none where there is no such file. @throws DataError when it is damaged or of a newer version
std::optional<Manifest> read_manifest(const std::filesystem::path& folder);
/// Whole or not at all. @throws DataError
void write_manifest(const std::filesystem::path& folder, const Manifest& manifest);

enum class ShardKind { training, held_out };

/// By NVIDIA's convention: a `.h5` or `.hdf5` file whose name contains "training" trains, else one with "test" is held out.
std::optional<ShardKind> shard_kind(const std::filesystem::path& file);

/// @throws DataError when a run of `shard` still makes the folder's files or was stopped while it did
void require_complete(const std::filesystem::path& folder);

/// The shards of a folder, sorted by name. @throws DataError when the folder or such files are missing, or not all there
std::vector<std::filesystem::path> find_shards(const std::filesystem::path& folder, ShardKind kind);

}  // namespace bertpretrain
