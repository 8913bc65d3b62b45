#include "text/reader/extract_request.h"

#include <algorithm>
#include <optional>
#include <string>
#include <system_error>

#include "core/concat.h"
#include "core/files/files.h"
#include "core/files/sha256.h"
#include "core/program_version.h"
#include "core/strings.h"
#include "text/content/byte_source.h"
#include "text/reader/input_files.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

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

/// An object in a store has no time here.
std::string digest_of_times(const std::vector<fs::path>& files) {
    Sha256 hash;
    for (const fs::path& file : files) {
        std::error_code none;
        const auto time = fs::last_write_time(file, none);
        hash.add(concat(none ? 0 : time.time_since_epoch().count(), '\0'));
    }
    return hexadecimal(hash.finish()).substr(0, 16);
}

}  // namespace

/// The structured bindings fail to compile where a setting is added that is not considered here.
ExtractedPart::Request request_of(const ExtractSettings& settings, const std::vector<fs::path>& files,
                                  const std::vector<std::uint64_t>& bytes) {
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

ExtractedPart::Request request_on_this_host(const ExtractSettings& settings, const std::vector<fs::path>& files) {
    if (!std::ranges::all_of(files, can_be_read_again)) return {};
    std::vector<std::uint64_t> bytes;
    for (const fs::path& file : files) bytes.push_back(bytes_of({file}));
    ExtractedPart::Request request = request_of(settings, files, bytes);
    request["digest of the times of INPUT"] = digest_of_times(files);
    return request;
}

}  // namespace bertpretrain
