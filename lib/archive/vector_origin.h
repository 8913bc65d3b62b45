#pragma once
// What a file of vectors records about how `embed` made it: an .h5 file in attributes, vectors.npy in vectors.origin.json.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "archive/vector_reader.h"

namespace bertpretrain {

struct VectorOrigin {
    std::string vectors{};                          ///< "mean", "cls" or "pooled"; empty: not recorded
    std::optional<std::uint32_t> encoder_crc32{};   ///< of the weights that made the vectors (encoder_crc32() in embed.h)
    std::optional<std::uint32_t> text_crc32{};      ///< of the texts (TextSurvey::crc32)
    std::optional<std::uint64_t> text_bytes{};      ///< of the texts (TextSurvey::bytes)
    std::optional<std::uint32_t> settings_crc32{};  ///< of the model's other settings (settings_crc32() in embed.h)
    std::optional<bool> cased{};                    ///< whether texts kept their case
    std::optional<bool> normalize{};                ///< whether the vectors were scaled to length 1
    std::optional<std::int64_t> max_length{};       ///< tokens per text
    std::optional<std::string> prompt{};            ///< what stood before each text; nullopt: not recorded
    bool is_of_earlier_version = false;             ///< `embed` wrote it before it recorded encoder_crc32
};

/// Returns an identity (EmbeddingRequest) as attributes: strings as they are, other values as JSON.
std::map<std::string, std::string> attributes_of(const nlohmann::ordered_json& identity);

/// Returns the file beside an .npy file that has its origin: vectors.npy has vectors.origin.json.
std::filesystem::path origin_beside(const std::filesystem::path& npy);

/// Writes the origin of an .npy file atomically and replaces an earlier one. It is valid for these vectors alone: it has their
/// shape, the file's size, and a CRC-32 of 256 pieces of it.
/// @param npy the finished file, under any name  @param output its final name
/// @throws DataError when a file cannot be read or written
void write_origin_beside(const std::filesystem::path& output, const std::filesystem::path& npy, const MatrixShape& shape,
                         const nlohmann::ordered_json& identity);

/// Returns what the file records; an empty origin where it records nothing. An origin beside an .npy file that is damaged, or
/// belongs to other vectors, is not used; logs a warning.
/// @param vectors the opened file
VectorOrigin origin_of(const std::filesystem::path& file, const VectorReader& vectors);

}  // namespace bertpretrain
