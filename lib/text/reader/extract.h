#pragma once
// Extracts sentences from documents into one file, in the format of BERT's original release.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "core/threads/threads.h"
#include "text/extract_counts.h"
#include "text/formats/input_settings.h"
#include "text/reader/document_reader.h"

namespace bertpretrain {

struct ExtractSettings {
    std::vector<std::filesystem::path> inputs;  ///< files, folders of files, or "-"; read in this order
    std::filesystem::path output;
    InputSettings reading = {};
    std::int64_t minimum_sentences = 1;  ///< documents with fewer sentences are left out
    std::size_t threads = available_cores();
};

/// More threads give no speedup, because one thread splits the file into pages for all others.
constexpr std::size_t most_extract_threads = 32;

/// Writes every document of the inputs, one sentence per line, with an empty line after each document. Writes OUTPUT.partial and
/// renames it at the end, so an older output stays unchanged until then. The output does not depend on the number of threads.
/// Memory: below 512 MiB for any inputs. OUTPUT.lineage.json then names the digests of the output and of the inputs.
/// @throws ConfigError before anything is written, when the output cannot be written, is one of the inputs, is being written by
/// another process, or has parts (extract_part.h)  @throws DataError when an input is missing (before anything is written) or
/// damaged, when too many records are malformed, or when no document is found
ExtractCounts extract(const ExtractSettings& settings);

/// Receives sentence text in order.
using WriteText = std::function<void(std::string_view text)>;

/// Calls write(text) for all documents of `reader` that have at least `minimum_sentences` sentences. @throws DataError like
/// next(), and NoDocumentError when no document is found
ExtractCounts write_sentences(DocumentReader& reader, std::int64_t minimum_sentences, const WriteText& write);
/// The same for documents of which there may be none. @throws DataError like next()
ExtractCounts write_any_sentences(DocumentReader& reader, std::int64_t minimum_sentences, const WriteText& write);
/// @throws NoDocumentError when no document is kept, with the counts as the reason
void require_documents(const ExtractCounts& counts, std::int64_t minimum_sentences);

/// Writes a file atomically with the text that `fill` passes to its argument. @param finish gets the digest of the text, before
/// the file appears under its name; may be empty  @returns this digest
FileDigest write_text_file(const std::filesystem::path& file, const std::function<void(const WriteText& write)>& fill,
                           const std::function<void(const FileDigest& digest)>& finish = {});

/// Creates the output's folder. @throws ConfigError when the output, or a file that is made with it (OUTPUT.partial and
/// OUTPUT.lineage.json), cannot be written or is one of the inputs
void check_text_output(const std::filesystem::path& output, const std::vector<std::filesystem::path>& inputs);

}  // namespace bertpretrain
