#pragma once
// Any inputs as files of sentence text, which can be read at any offset and more than once.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/files/file_digest.h"
#include "core/files/temporary_file.h"
#include "text/formats/input_settings.h"

namespace bertpretrain {

/// Inputs that already are such files stay where they are. Others are extracted, as extract() does, into a file without a name
/// that disappears with this object.
class SentenceText {
public:
    /// @param folder its file system holds the extracted text; it is created if that is needed
    /// @throws ConfigError, DataError like DocumentReader, and when the folder cannot be written
    SentenceText(const std::vector<std::filesystem::path>& inputs, const InputSettings& settings, std::size_t threads,
                 const std::filesystem::path& folder);

    /// Text with one sentence per line and an empty line after each document, in UTF-8.
    const std::vector<std::filesystem::path>& files() const { return files_; }

    /// The digests of the inputs that were extracted; empty where files() are the inputs.
    const std::vector<FileDigest>& extracted_from() const { return extracted_from_; }

private:
    std::optional<TemporaryFile> extracted_;
    std::vector<std::filesystem::path> files_;
    std::vector<FileDigest> extracted_from_;
};

}  // namespace bertpretrain
