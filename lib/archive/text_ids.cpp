#include "archive/text_ids.h"

#include <cstdint>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/files.h"
#include "core/output/displayable.h"

namespace bertpretrain {
namespace {

constexpr std::size_t ids_at_once = 4096;

}  // namespace

void write_as_json_line(std::ostream& out, std::string_view text) {
    out << nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

std::string text_of_json_line(std::string_view line, const std::filesystem::path& file) {
    nlohmann::json value = nlohmann::json::parse(line, nullptr, false);
    if (!value.is_string()) throw DataError(concat(file.string(), ": changed while it was read"));
    return std::move(value.get_ref<std::string&>());
}

TextIds::TextIds(std::filesystem::path file) : file_(std::move(file)), in_(file_, std::ios::binary) {
    if (!in_) throw DataError(concat(file_.string(), ": cannot be read"));
}

std::vector<std::string> TextIds::next(std::size_t count) {
    std::vector<std::string> ids;
    for (std::string line; ids.size() < count && std::getline(in_, line);) ids.push_back(text_of_json_line(line, file_));
    return ids;
}

void write_ids_as_text(const std::filesystem::path& ids, const std::filesystem::path& output) {
    TextIds in(ids);
    std::int64_t row = 0;
    write_atomically(output, [&](std::ostream& out) {
        for (std::vector<std::string> some = in.next(ids_at_once); !some.empty(); some = in.next(ids_at_once))
            for (const std::string& id : some) {
                ++row;
                if (id.find_first_of("\r\n") != std::string::npos)
                    throw DataError(concat(output.string(), ": the id of row ", row, " has a line break: ", displayable(id),
                                           "\n  do: write the vectors to a .h5 or .parquet file, which holds any id"));
                out << id << '\n';
            }
    });
}

}  // namespace bertpretrain
