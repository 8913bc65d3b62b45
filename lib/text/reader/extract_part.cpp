#include "text/reader/extract_part.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>

#include "core/error.h"
#include "core/files/file_lock.h"
#include "core/files/files.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "text/content/byte_source.h"
#include "text/reader/extract_request.h"
#include "text/reader/extracted_part.h"
#include "text/reader/input_files.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;
using Request = ExtractedPart::Request;

std::vector<std::uint64_t> sizes_of(const std::vector<fs::path>& files, const Part& part) {
    std::vector<std::uint64_t> bytes;
    for (const fs::path& file : files) {
        if (!can_be_read_again(file))
            throw ConfigError(concat("--part ", part.text(), ": ", file == standard_input ? "standard input" : file.string(),
                                     " can be read by one process only\n  do: write its content into files first"));
        bytes.push_back(bytes_of({file}));
    }
    if (static_cast<std::size_t>(part.count) > files.size())
        throw ConfigError(
            concat("--part ", part.text(), ": the inputs are ", files.size(), files.size() == 1 ? " file" : " files",
                   ", expected at least as many as parts, because a file is not divided\n  do: use fewer parts, or ",
                   "inputs in more files"));
    return bytes;
}

void require_new(const fs::path& output, const Part& part) {
    if (fs::exists(output))
        throw ConfigError(concat("--output ", output.string(), ": exists already, and --part ", part.text(),
                                 " replaces nothing\n  do: choose another --output, or remove the file"));
}

/// The parts may have been joined and removed since require_new(): the lock's file is then new.
void require_not_joined(const fs::path& output, const Part& part) {
    if (std::error_code ignored; fs::exists(output) && fs::is_empty(part_record_file(output, part), ignored))
        fs::remove(part_record_file(output, part), ignored);
    require_new(output, part);
}

/// Refuses to make parts that could not be joined.
void require_same_text(const fs::path& output, const Part& part, const Request& request) {
    for (const Part& other : parts_of_text(output)) {
        if (other == part) continue;
        const std::string file = part_record_file(output, other).string();
        if (other.count != part.count)
            throw ConfigError(
                concat(file, ": is part ", other.text(), ", but this is part ", part.text(),
                       "\n  do: give all parts the same number of parts, or choose another --output, or remove it"));
        const std::optional<ExtractedPart> theirs = read_extracted_part(output, other);
        if (const std::string differs = theirs ? difference(request, theirs->request) : ""; !differs.empty())
            throw ConfigError(concat("--part ", part.text(), ": ", differs, " as in ", file,
                                     "\n  do: give all parts the same inputs and options, or choose another --output"));
    }
}

bool is_complete(const fs::path& output, const Part& part, const std::optional<ExtractedPart>& record, const Request& request) {
    const fs::path text = part_text_file(output, part);
    return record && record->text && record->request == request && fs::is_regular_file(text) &&
           digest_of_file(text).sha256 == record->text->sha256;
}

}  // namespace

std::pair<std::size_t, std::size_t> files_of_part(const std::vector<std::uint64_t>& bytes, const Part& part) {
    const auto weight_of = [](std::uint64_t size) { return 2 * size + 2; };  // even, and not 0 for an empty file
    std::uint64_t all = 0;
    for (const std::uint64_t size : bytes) all += weight_of(size);
    const auto count = static_cast<std::uint64_t>(part.count), number = static_cast<std::uint64_t>(part.number);
    const std::uint64_t share = (all + count - 1) / count;
    std::size_t first = 0, end = 0;
    std::uint64_t before = 0;
    for (const std::uint64_t size : bytes) {  // a file belongs to the part in whose share its middle lies
        const std::uint64_t owner = (before + weight_of(size) / 2) / share + 1;
        first += owner < number;
        end += owner <= number;
        before += weight_of(size);
    }
    return {first, end};
}

ExtractCounts extract_part(const ExtractSettings& settings, const Part& part) {
    TaskPool pool(std::min(settings.threads, most_extract_threads));
    DocumentReader reader(settings.inputs, settings.reading, pool);
    const std::vector<std::uint64_t> bytes = sizes_of(reader.files(), part);
    const fs::path text = part_text_file(settings.output, part);
    for (const fs::path& file : {settings.output, text}) check_text_output(file, reader.files());
    require_new(settings.output, part);
    ExtractedPart record{request_of(settings, reader.files(), bytes), settings.minimum_sentences, settings.reading.most_bad};
    require_same_text(settings.output, part, record.request);
    const FileLock alone(part_record_file(settings.output, part),
                         concat(text.string(), ": another process is making this part; wait for it"));
    require_not_joined(settings.output, part);
    if (const auto earlier = read_extracted_part(settings.output, part);
        is_complete(settings.output, part, earlier, record.request)) {
        log_info(concat(text.string(), ": is complete already"));
        return earlier->counts;
    }
    begin_part_record(settings.output, part, record);
    const auto [first, end] = files_of_part(bytes, part);
    log_info(concat("part ", part.text(), ": ", end - first, " of ", bytes.size(), " files"));
    reader.read_only(first, end);
    const ExtractedPart made = extract_files(settings, text, reader, first, request_on_this_host(settings, reader.files()));
    record.text = made.text;
    record.inputs = made.inputs;
    record.counts = made.counts;
    record.records = made.records;
    write_part_record(settings.output, part, record);
    return record.counts;
}

}  // namespace bertpretrain
