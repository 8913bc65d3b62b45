#pragma once
// A text that is made of whole input files, and that a later process goes on with when the one that makes it ends early.

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string_view>

#include "core/files/file_digest.h"
#include "text/reader/extracted_part.h"

namespace bertpretrain {

/// Writes FILE.partial and renames it at the end. FILE.so_far.partial says which part of it is the text of whole input files:
/// what follows that is cut off by the next process with the same request, which goes on there. With another one, it begins
/// again. The caller has the right to write FILE (file_lock.h).
class ContinuedText {
public:
    /// Opens FILE.partial after what an earlier process has saved, whose SHA-256 is compared.
    /// @param request  all that the text depends on; empty: nothing is saved, because inputs cannot be read again
    /// @throws DataError when the file cannot be read or written
    ContinuedText(std::filesystem::path file, const ExtractedPart::Request& request, double save_seconds);
    ContinuedText(const ContinuedText&) = delete;
    ContinuedText& operator=(const ContinuedText&) = delete;
    /// Removes FILE.partial if it is not finished and nothing is saved.
    ~ContinuedText();

    /// What was saved when this began, with one digest in `inputs` per input file; empty if nothing was.
    const ExtractedPart& found() const { return found_; }
    /// Whether a later process can go on with it.
    bool is_saved() const { return is_saved_; }

    /// @throws DataError when the disk refuses it
    void write(std::string_view text);
    /// Whether it is time to save.
    bool is_due() const;
    /// Saves that what was written so far is the text of `so_far.inputs`. @throws DataError
    void save(ExtractedPart so_far);
    /// Renames the file. @param before called before that with the text's digest  @throws DataError
    FileDigest finish(const std::function<void(const FileDigest& digest)>& before);
    /// Forgets what is saved.
    void discard();

private:
    bool holds(const ExtractedPart& saved);
    void flush();

    std::filesystem::path file_, partial_, record_;
    bool can_save_, is_saved_ = false, is_finished_ = false;
    double save_seconds_;
    std::chrono::steady_clock::time_point last_saved_ = std::chrono::steady_clock::now();
    ExtractedPart found_;
    std::ofstream out_;
    RunningDigest running_;
};

/// The files that belong to a text while it is made: FILE.partial and FILE.so_far.partial.
std::filesystem::path partial_text_file(std::filesystem::path file);
std::filesystem::path saved_text_record(std::filesystem::path file);

}  // namespace bertpretrain
