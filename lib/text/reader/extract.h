#pragma once
// Extracts sentences from documents into one file, in the format of BERT's original release.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "text/extract_counts.h"
#include "text/reader/document_reader.h"
#include "text/reader/extract_settings.h"
#include "text/reader/extracted_part.h"

namespace bertpretrain {

/// More threads give no speedup, because one thread splits the file into pages for all others.
constexpr std::size_t most_extract_threads = 32;

/// Writes every document of the inputs, one sentence per line, with an empty line after each document. Writes OUTPUT.partial and
/// renames it at the end, so an older output stays unchanged until then. Where an earlier process with the same settings and
/// inputs ended early, it goes on after the files that are in OUTPUT.partial. The output does not depend on the number of
/// threads. Memory: below 512 MiB for any inputs. OUTPUT.lineage.json then names the digests of the output and of the inputs.
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
/// @param after_batch  called with the counts so far after each write; may be empty
ExtractCounts write_any_sentences(DocumentReader& reader, std::int64_t minimum_sentences, const WriteText& write,
                                  const std::function<void(const ExtractCounts& counts)>& after_batch = {});
/// @throws NoDocumentError when no document is kept, with the counts as the reason
void require_documents(const ExtractCounts& counts, std::int64_t minimum_sentences);

/// Writes a file atomically with the text that `fill` passes to its argument. @param finish gets the digest of the text, before
/// the file appears under its name; may be empty  @returns this digest
FileDigest write_text_file(const std::filesystem::path& file, const std::function<void(const WriteText& write)>& fill,
                           const std::function<void(const FileDigest& digest)>& finish = {});

/// Writes the documents of the files from `first` on that `reader` reads into `file`, or goes on with it (continued_text.h).
/// @param before_rename  called with the result when all is written; may be empty
/// @returns what was extracted, by this process and those before it  @throws DataError like next()
ExtractedPart extract_files(const ExtractSettings& settings, const std::filesystem::path& file, DocumentReader& reader,
                            std::size_t first, const ExtractedPart::Request& request,
                            const std::function<void(const ExtractedPart& made)>& before_rename = {});

/// Creates the output's folder. @throws ConfigError when the output, or a file that is made with it (OUTPUT.partial,
/// OUTPUT.so_far.partial and OUTPUT.lineage.json), cannot be written or is one of the inputs
void check_text_output(const std::filesystem::path& output, const std::vector<std::filesystem::path>& inputs);

}  // namespace bertpretrain
