#include "text/reader/join_text.h"

#include <algorithm>
#include <chrono>
#include <list>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "core/error.h"
#include "core/files/file_lock.h"
#include "core/files/files.h"
#include "core/files/input_file.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "text/reader/extract.h"
#include "text/reader/extracted_part.h"
#include "text/reader/text_lineage.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

/// The records last: join_text() finds what is left by them.
void remove_parts(const fs::path& output) {
    std::error_code ignored;
    std::vector<Part> parts = parts_of_text(output);
    for (const Part& part : parts) fs::remove(part_text_file(output, part), ignored);
    std::ranges::reverse(parts);  // so that a join that is killed here leaves the records of the text's beginning
    for (const Part& part : parts) fs::remove(part_record_file(output, part), ignored);
}

/// Whether the text begins with the texts of the parts whose records are left, and is these texts if all records are.
bool is_text_of(const fs::path& output, const std::vector<Part>& left) {
    const InputFile in(output);
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
        const std::optional<ExtractedPart> record = read_extracted_part(output, left[i]);
        if (left[i].number != static_cast<std::int64_t>(i) + 1 || !record || !record->text) return false;
        RunningDigest digest;
        std::string piece;
        while (digest.bytes() < record->text->bytes) {
            piece.resize(std::min<std::uint64_t>(std::size_t{1} << 20, record->text->bytes - digest.bytes()));
            const std::size_t count = in.read_at(at + digest.bytes(), piece.data(), piece.size());
            if (count == 0) return false;
            digest.add(std::string_view(piece).substr(0, count));
        }
        at += digest.bytes();
        if (digest.finish("").sha256 != record->text->sha256) return false;
    }
    const bool has_all = !left.empty() && std::ssize(left) == left.back().count;
    return !has_all || at == fs::file_size(output);
}

/// @throws DataError where OUTPUT is another text than that of its record, or than that of the parts that are left
void require_joined(const fs::path& output, const std::vector<Part>& left) {
    const std::optional<FileDigest> recorded = recorded_digest(output);
    const auto refuse = [&](const char* why, const char* what_to_do) {
        throw DataError(concat(output.string(), ": exists already, ", why, "\n  do: ", what_to_do));
    };
    if (!recorded && left.empty()) refuse("but has neither parts nor a record beside it", "name the --output of parts");
    if (recorded && recorded->sha256 != digest_of_file(output).sha256)
        refuse("but is not the text that was written (its record has another SHA-256)",
               "remove it, and join its parts again or extract it again");
    if (!recorded || !is_text_of(output, left))
        refuse("and is not the text of the parts beside it", "move it away to join the parts, or remove the parts");
}

/// Returns all parts' records, in order. @throws DataError naming those that are missing or not complete
std::vector<ExtractedPart> complete_parts(const fs::path& output, const std::vector<Part>& found) {
    const std::int64_t count = found.front().count;
    if (found.back().count != count)
        throw DataError(concat(output.string(), ": has parts of two texts, ",
                               part_record_file(output, found.front()).filename().string(), " and ",
                               part_record_file(output, found.back()).filename().string(),
                               ", expected the same number of parts\n  do: remove the files of those that do not belong to it"));
    std::vector<ExtractedPart> records;
    std::string missing;
    for (std::int64_t number = 1; number <= count; ++number) {
        std::optional<ExtractedPart> record = read_extracted_part(output, {number, count});
        if (record && record->text) records.push_back(*std::move(record));
        else missing += concat(missing.empty() ? "" : ", ", number, "/", count);
    }
    if (!missing.empty())
        throw DataError(concat(output.string(), ": ", records.size(), " of ", count, " parts are complete; missing: ", missing,
                               "\n  do: run `bertpretrain_data extract` with --part for each of these, and join again"));
    return records;
}

void require_same_request(const fs::path& output, const std::vector<ExtractedPart>& records) {
    const auto count = static_cast<std::int64_t>(records.size());
    for (std::int64_t number = 2; number <= count; ++number)
        if (const std::string differs =
                difference(records[static_cast<std::size_t>(number - 1)].request, records.front().request);
            !differs.empty())
            throw DataError(concat(part_record_file(output, {number, count}).string(), ": ", differs, " as in part 1/", count,
                                   "\n  do: make this part again with the command of part 1"));
}

/// Returns the sums of all parts, by the rules that extract() has for the whole. @throws DataError
ExtractCounts sum_of(const std::vector<ExtractedPart>& records) {
    ExtractCounts sum;
    BadRecords bad(records.front().most_bad);
    for (const ExtractedPart& record : records) {
        sum.add_pages(record.counts);
        sum.bad_records += record.counts.bad_records;
        sum.bytes_read += record.counts.bytes_read;
        sum.bytes_written += record.counts.bytes_written;
        bad.add(record.records);
    }
    bad.finish();
    require_documents(sum, records.front().minimum_sentences);
    return sum;
}

void append_part(const fs::path& file, const FileDigest& expected, const WriteText& write) {
    const auto refuse = [&](const std::string& found) {
        throw DataError(
            concat(file.string(), ": ", found, "\n  do: copy it again, or make this part again with `extract --part`"));
    };
    if (!fs::exists(file))
        refuse(concat("is missing, expected ", with_thousands(static_cast<std::int64_t>(expected.bytes)), " bytes"));
    const InputFile in(file);
    RunningDigest digest;
    std::string piece(std::size_t{1} << 20, '\0');
    while (const std::size_t count = in.read_at(digest.bytes(), piece.data(), piece.size())) {
        digest.add(std::string_view(piece).substr(0, count));
        write(std::string_view(piece).substr(0, count));
    }
    const FileDigest found = digest.finish("");
    if (found.sha256 != expected.sha256)
        refuse(concat("is not the text that its part wrote (", with_thousands(static_cast<std::int64_t>(found.bytes)),
                      " bytes, expected ", with_thousands(static_cast<std::int64_t>(expected.bytes)), ", with another SHA-256)"));
}

}  // namespace

ExtractCounts join_text(const fs::path& output) {
    const auto start = std::chrono::steady_clock::now();
    std::list<FileLock> alone;  // no other process joins them, or makes a part again, until they are removed
    for (const Part& part : parts_of_text(output))
        alone.emplace_back(
            part_record_file(output, part),
            concat(output.string(), ": another process is joining its parts, or making part ", part.text(), "; wait for it"),
            FileLock::Missing::leave);
    const std::vector<Part> found = parts_of_text(output);
    if (fs::is_regular_file(output)) {
        require_joined(output, found);
        remove_parts(output);
        log_info(concat(output.string(), ": is complete already"));
        ExtractCounts counts;
        counts.bytes_written = fs::file_size(output);
        return counts;
    }
    if (found.empty())
        throw ConfigError(concat(output.string(), ": has no parts, ", output.filename().string(), ".part_I_of_N.json",
                                 "\n  do: name the --output of `bertpretrain_data extract --part I/N` or `shard --part I/N`"));
    const std::vector<ExtractedPart> records = complete_parts(output, found);
    require_same_request(output, records);
    ExtractCounts counts = sum_of(records);
    std::vector<FileDigest> inputs;
    for (const ExtractedPart& record : records) inputs.insert(inputs.end(), record.inputs.begin(), record.inputs.end());
    const auto count = static_cast<std::int64_t>(records.size());
    const OutputLock own(output);
    write_text_file(
        output,
        [&](const WriteText& write) {
            for (std::int64_t number = 1; number <= count; ++number)
                append_part(part_text_file(output, {number, count}), *records[static_cast<std::size_t>(number - 1)].text, write);
        },
        [&](const FileDigest& digest) { write_text_lineage(output, digest, inputs); });
    remove_parts(output);
    counts.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return counts;
}

}  // namespace bertpretrain
