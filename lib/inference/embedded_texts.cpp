#include "inference/embedded_texts.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "core/error.h"
#include "core/files/files.h"
#include "core/strings.h"
#include "inference/embed_inputs.h"
#include "inference/text_lines.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

/// A new folder for copies, which is removed with its files.
struct CopyFolder {
    fs::path path;
    CopyFolder() {
        std::string name = (fs::temp_directory_path() / "bertpretrain_texts_XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr)
            throw DataError(
                concat(name, ": cannot be created (", std::strerror(errno), ")\n  do: set TMPDIR to a folder with space"));
        path = name;
    }
    CopyFolder(const CopyFolder&) = delete;
    CopyFolder& operator=(const CopyFolder&) = delete;
    ~CopyFolder() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
};

void refuse_other_texts(const TextSurvey& text, const VectorOrigin& origin) {
    if (!origin.text_crc32 || !origin.text_bytes) return;
    if (text.crc32 == *origin.text_crc32 && text.bytes == *origin.text_bytes) return;
    throw DataError(concat(text.name, ": has ", with_thousands(static_cast<std::int64_t>(text.bytes)),
                           " bytes of texts with the CRC-32 ", text.crc32, "; the vectors were made of ",
                           with_thousands(static_cast<std::int64_t>(*origin.text_bytes)), " bytes with the CRC-32 ",
                           *origin.text_crc32, "\n  do: name the file that was embedded, unchanged and in the same order, and ",
                           "its --text-field, --format, --letters and --encoding"));
}

}  // namespace

std::map<std::int64_t, std::string> texts_of_rows(const std::vector<fs::path>& inputs, const InputSettings& settings,
                                                  std::int64_t rows, const VectorOrigin& origin,
                                                  const std::set<std::int64_t>& wanted, std::size_t threads) {
    const CopyFolder folder;
    const EmbedInput found = prepare_embed_inputs(inputs, settings, false, folder.path, threads);
    TextSurvey text = found.are_records ? survey_records(found.file, found.name) : survey_text(found.file);
    if (text.must_convert) {
        const fs::path copy = folder.path / "converted";
        write_atomically(copy, [&](std::ostream& out) { write_as_lines(found.file, out); });
        text = survey_text(copy);
    }
    text.name = found.name;
    if (text.lines != rows)
        throw DataError(concat(text.name, ": has ", with_thousands(text.lines), " texts, and the vectors have ",
                               with_thousands(rows), " rows; expected as many\n  do: name the file whose vectors they are"));
    refuse_other_texts(text, origin);
    std::map<std::int64_t, std::string> texts;
    for (const TextPart& part : text.parts) {
        const auto first = wanted.lower_bound(part.first_line), last = wanted.lower_bound(part.first_line + part.lines);
        if (first == last) continue;
        const std::vector<std::string> lines = read_lines(text, part);
        for (auto row = first; row != last; ++row) texts[*row] = lines[static_cast<std::size_t>(*row - part.first_line)];
    }
    return texts;
}

}  // namespace bertpretrain
