#include "inference/embed_inputs.h"

#include <fstream>
#include <ostream>
#include <string>
#include <system_error>

#include "archive/text_ids.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/output/log.h"
#include "storage/remote_address.h"
#include "text/content/byte_source.h"
#include "text/reader/input_files.h"
#include "text/reader/read_text.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& input) {
    if (is_remote_address(input.string())) return parse_remote_address(input.string()).is_folder();
    return input != standard_input && fs::is_directory(input);
}

/// Appends one file's texts and ids to those of all. Returns the number of texts.
std::int64_t append(const EmbedInput& input, std::ostream& texts, std::ostream& ids) {
    std::int64_t count = 0;
    const auto add_id = [&] { write_as_json_line(ids, concat(input.name, ":", count)); };
    if (!input.are_records) {
        TextLines lines(input.file);
        for (std::string line; lines.next(line);) {
            ++count;
            write_as_json_line(texts, line);
            add_id();
        }
        return count;
    }
    std::ifstream records(input.file, std::ios::binary);
    for (std::string line; std::getline(records, line);) {
        ++count;
        texts << line << '\n';
        if (input.ids.empty()) add_id();
    }
    if (count > 0 && !input.ids.empty()) ids << std::ifstream(input.ids, std::ios::binary).rdbuf();
    return count;
}

/// A folder for what is prepared of one file at a time.
struct PartFolder {
    fs::path path;
    void renew() const {
        std::error_code ignored;  // writing reports it
        fs::remove_all(path, ignored);
        fs::create_directory(path, ignored);
    }
    ~PartFolder() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
};

void write_all(const std::vector<fs::path>& files, const InputSettings& settings, bool asks_for_fields, const fs::path& folder,
               std::size_t threads, std::ostream& texts, std::ostream& ids) {
    const PartFolder part{folder / embed_part_folder};
    std::size_t empty = 0;
    std::string first_empty;
    for (const fs::path& file : files) {
        part.renew();
        const EmbedInput input = prepare_embed_input(file, settings, asks_for_fields, part.path, threads);
        if (append(input, texts, ids) == 0 && ++empty == 1) first_empty = input.name;
    }
    if (empty == files.size()) throw DataError(concat(first_empty, ": is empty, expected texts"));
    if (empty > 0) log_warning(concat(empty, " of ", files.size(), " files are empty; the first is ", first_empty));
}

}  // namespace

EmbedInput prepare_embed_inputs(const std::vector<fs::path>& inputs, const InputSettings& settings, bool asks_for_fields,
                                const fs::path& folder, std::size_t threads) {
    if (inputs.size() == 1 && !is_folder(inputs.front()))
        return prepare_embed_input(inputs.front(), settings, asks_for_fields, folder, threads);
    const std::vector<fs::path> files = input_files(inputs);
    EmbedInput all{folder / "texts", true, folder / "ids", inputs.front().string()};
    if (inputs.size() > 1) all.name += concat(" and ", inputs.size() - 1, " more");
    write_atomically(all.file, [&](std::ostream& texts) {
        write_atomically(all.ids,
                         [&](std::ostream& ids) { write_all(files, settings, asks_for_fields, folder, threads, texts, ids); });
    });
    return all;
}

}  // namespace bertpretrain
