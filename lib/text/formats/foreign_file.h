#pragma once
// What is this file? Names the formats that users pass by mistake, for every input: corpora, vocabularies, weights, shards.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace bertpretrain {

struct ForeignFile {
    std::string_view name;    ///< "a Git LFS pointer"
    std::string_view advice;  ///< what to do
    bool is_text = false;     ///< whether it could be read as plain text all the same
};

/// Number of bytes that the functions below should see, fewer only if the file is shorter.
inline constexpr std::size_t foreign_head_bytes = 512;

/// Recognizes a file that never is what it stands for, by how it begins: Git LFS pointers, WARC, Arrow, PDF, images, archives and
/// others. Returns nullopt for all other files: text, compressed files, Parquet.
std::optional<ForeignFile> foreign_file(std::string_view head);

/// Recognizes compressions and archives that are not read, such as xz, 7z and zip.
std::optional<ForeignFile> foreign_compression(std::string_view head);

/// For inputs other than corpora: recognizes all of the above, and gzip, bzip2, zstd, Parquet, HTML, XML, JSON and an empty file.
std::optional<ForeignFile> known_file(std::string_view head);
/// Looks at the beginning of a file; nullopt also if it cannot be read.
std::optional<ForeignFile> known_file_at(const std::filesystem::path& file);

/// Returns a message: "FILE: is NAME, expected EXPECTED\n  do: ADVICE".
std::string refusal_of(const std::string& file, const ForeignFile& found, std::string_view expected);

}  // namespace bertpretrain
