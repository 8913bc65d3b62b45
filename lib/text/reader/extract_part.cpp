#include "text/reader/extract_part.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>

#include "core/error.h"
#include "core/files/file_lock.h"
#include "core/files/files.h"
#include "core/files/sha256.h"
#include "core/output/log.h"
#include "core/program_version.h"
#include "core/strings.h"
#include "text/content/byte_source.h"
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

std::string digest_of_names(const std::vector<fs::path>& files, const std::vector<std::uint64_t>& bytes) {
    Sha256 hash;
    for (std::size_t i = 0; i < files.size(); ++i) hash.add(concat(files[i].string(), '\0', bytes[i], '\0'));
    return hexadecimal(hash.finish()).substr(0, 16);
}

std::string digest_of_parameters(const std::optional<fs::path>& folder) {
    if (!folder) return "";
    Sha256 hash;
    for (const fs::path& file : list_files(*folder, {".txt", ".tab"})) hash.add(read_file(file));
    return concat("files with SHA-256 ", hexadecimal(hash.finish()).substr(0, 16), "...");
}

/// The structured bindings fail to compile where a setting is added that is not considered here.
Request request_of(const ExtractSettings& settings, const std::vector<fs::path>& files, const std::vector<std::uint64_t>& bytes) {
    const auto yes_or_no = [](bool value) { return std::string(value ? "yes" : "no"); };
    const auto& [format, documents, lines, text_field, id_field, letters, encoding, warns_of_indentation, most_bad, prose,
                 sentences] = settings.reading;
    const auto& [tidies, keeps_lists, all_names_known] = prose;
    const auto& [punkt, parameters, none] = sentences;
    std::uint64_t all_bytes = 0;
    for (const std::uint64_t size : bytes) all_bytes += size;
    const ProgramVersion& program = program_version();
    static_cast<void>(warns_of_indentation);  // changes no text
    static_cast<void>(all_names_known);       // no setting of the command's
    return {{"INPUT", concat(with_thousands(static_cast<std::int64_t>(files.size())), " files of ",
                             with_thousands(static_cast<std::int64_t>(all_bytes)), " bytes (digest of names and sizes ",
                             digest_of_names(files, bytes), "...)")},
            {"--minimum-sentences", concat(settings.minimum_sentences)},
            {"--format", format},
            {"--documents", documents},
            {"--lines", lines},
            {"--text-field", text_field},
            {"--id-field", id_field},  // records without it are left out
            {"--letters", letters},
            {"--encoding", encoding},
            {"--max-bad", concat(most_bad)},
            {"--tidy", yes_or_no(tidies)},
            {"--lists", keeps_lists ? "keep" : "drop"},
            {"--sentences", none    ? "none"
                            : punkt ? "punkt"
                                    : "english"},
            {"--punkt-parameters", digest_of_parameters(parameters)},
            {"program version", concat(program.version, " ", program.commit)}};
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
    reader.digest_files();
    record.text = write_text_file(
        text, [&](const WriteText& write) { record.counts = write_any_sentences(reader, settings.minimum_sentences, write); });
    record.inputs = reader.digests();
    record.records = reader.bad_records().counts();
    write_part_record(settings.output, part, record);
    return record.counts;
}

}  // namespace bertpretrain
