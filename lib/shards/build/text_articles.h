#pragma once
// Finds the articles in text files by BERT's convention: one sentence per line; an empty line or the file's end ends an article.
// Lines end as line_ends.h says, and are empty as white_space.h says. The files have no byte order mark.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/file_digest.h"
#include "core/files/random_access_file.h"
#include "text/line_ends.h"
#include "text/white_space.h"

namespace bertpretrain {

/// Consecutive articles of one file, about 256 KiB in total.
struct TextPart {
    std::uint32_t file = 0;
    std::uint32_t first_article = 0, articles = 0;
    std::uint64_t offset = 0, bytes = 0;
};

/// An index of the articles in a list of files. The text stays on disk; the index takes 4 bytes per article.
class TextArticles {
public:
    static constexpr std::uint64_t largest_article = std::uint64_t{64} << 20;

    /// Reads all files once.
    /// @throws DataError if a file cannot be read, no article is found, or one is larger than 64 MiB
    explicit TextArticles(const std::vector<std::filesystem::path>& files, std::uint64_t part_bytes = std::uint64_t{256} << 10);

    std::size_t size() const { return sentence_counts_.size(); }
    /// Returns each article's number of lines that are not empty, at least 1.
    const std::vector<std::uint32_t>& sentence_counts() const { return sentence_counts_; }
    std::uint64_t total_bytes() const { return total_bytes_; }
    /// The digests of the files, each with what its record of lineage names as its origin (text_lineage.h).
    const std::vector<FileDigest>& digests() const { return digests_; }
    const std::vector<TextPart>& parts() const { return parts_; }
    const std::filesystem::path& file(const TextPart& part) const { return files_[part.file].path; }
    /// Returns the text of a part. Thread-safe. @throws DataError if the file was replaced, became shorter or cannot be
    /// read
    std::string read(const TextPart& part) const;

private:
    class Scan;
    /// A file is open only while it is read, because a folder may have more files than a process may open.
    struct File {
        std::filesystem::path path;
        FileIdentity identity;
    };

    std::vector<File> files_;
    std::vector<std::uint32_t> sentence_counts_;
    std::vector<TextPart> parts_;
    std::uint64_t total_bytes_ = 0;
    std::vector<FileDigest> digests_;
};

/// Calls visit(sentence) for each line of a part's text, without white space at its ends, as extract() writes it; an empty line
/// is an empty one.
template <class Visit>
void for_each_sentence(std::string_view text, Visit&& visit) {
    for_each_universal_line(text, [&](std::string_view line) { visit(stripped(line)); });
}

}  // namespace bertpretrain
