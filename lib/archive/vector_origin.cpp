#include "archive/vector_origin.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <string_view>

#include "archive/checksum.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/files/input_file.h"
#include "core/foreign_json.h"
#include "core/output/log.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// CRC-32 of at most 256 pieces of 16 KiB, spread evenly over the file: a record is compared before each search, and a file may
/// have many GB. Vectors of another model, or of another order of the texts, differ in every piece.
std::uint32_t crc32_of_pieces(const fs::path& file) {
    constexpr std::uint64_t piece_bytes = 16384, most_pieces = 256;
    const std::uint64_t size = fs::file_size(file), pieces = std::min(most_pieces, (size + piece_bytes - 1) / piece_bytes);
    const bool is_whole = size <= piece_bytes * most_pieces;
    const InputFile in(file);
    std::string piece(piece_bytes, '\0');
    std::uint32_t crc32 = 0;
    for (std::uint64_t i = 0; i < pieces; ++i) {
        const std::uint64_t offset = is_whole ? i * piece_bytes : i * (size - piece_bytes) / (pieces - 1);
        const std::size_t count = in.read_at(offset, piece.data(), piece.size());
        crc32 = crc32_joined(crc32, crc32_of(std::as_bytes(std::span(piece).first(count))), count);
    }
    return crc32;
}

/// What ties an origin to an .npy file.
ordered_json description_of(const fs::path& npy, const MatrixShape& shape) {
    return {
        {"rows", shape.rows}, {"columns", shape.columns}, {"bytes", fs::file_size(npy)}, {"pieces_crc32", crc32_of_pieces(npy)}};
}

std::map<std::string, std::string> attributes_beside(const fs::path& npy, const MatrixShape& shape) {
    const fs::path file = origin_beside(npy);
    if (!fs::is_regular_file(file)) return {};
    const auto origin = parse_foreign_json<ordered_json>(read_file(file));
    const bool is_complete = origin.is_object() && origin.contains("file") && origin.contains("origin") &&
                             origin["file"].is_object() && origin["origin"].is_object();
    if (is_complete && origin["file"] == description_of(npy, shape)) return attributes_of(origin["origin"]);
    log_warning(concat(file.string(), ": ",
                       is_complete ? "belongs to other vectors than " + npy.string() : std::string("is damaged"),
                       ", and is not used\n  do: remove it, or make the vectors again with `embed`"));
    return {};
}

template <class Number>
std::optional<Number> number_in(const std::map<std::string, std::string>& attributes, const char* name) {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return std::nullopt;
    const char *begin = found->second.data(), *end = begin + found->second.size();
    Number number = 0;
    const auto [stop, failure] = std::from_chars(begin, end, number);
    return failure == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

std::optional<bool> flag_in(const std::map<std::string, std::string>& attributes, const char* name) {
    const auto found = attributes.find(name);
    if (found == attributes.end() || (found->second != "true" && found->second != "false")) return std::nullopt;
    return found->second == "true";
}

}  // namespace

std::map<std::string, std::string> attributes_of(const ordered_json& identity) {
    std::map<std::string, std::string> attributes;
    for (const auto& [name, value] : identity.items())
        attributes[name] = value.is_string() ? value.get<std::string>() : value.dump();
    return attributes;
}

fs::path origin_beside(const fs::path& npy) { return fs::path(npy).replace_extension(".origin.json"); }

void write_origin_beside(const fs::path& output, const fs::path& npy, const MatrixShape& shape, const ordered_json& identity) {
    const ordered_json origin{{"file", description_of(npy, shape)}, {"origin", identity}};
    write_atomically(origin_beside(output), origin.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
}

VectorOrigin origin_of(const fs::path& file, const VectorReader& vectors) {
    const std::map<std::string, std::string> attributes =
        vector_format_of(file) == VectorFormat::npy ? attributes_beside(file, vectors.shape()) : vectors.attributes();
    VectorOrigin origin{.encoder_crc32 = number_in<std::uint32_t>(attributes, "encoder_crc32"),
                        .text_crc32 = number_in<std::uint32_t>(attributes, "text_crc32"),
                        .text_bytes = number_in<std::uint64_t>(attributes, "text_bytes"),
                        .settings_crc32 = number_in<std::uint32_t>(attributes, "settings_crc32"),
                        .cased = flag_in(attributes, "cased"),
                        .normalize = flag_in(attributes, "normalize"),
                        .max_length = number_in<std::int64_t>(attributes, "max_length")};
    if (const auto found = attributes.find("prompt"); found != attributes.end()) origin.prompt = found->second;
    else if (origin.normalize) origin.prompt = "";  // `embed` records a prompt where there is one
    if (const auto found = attributes.find("vectors"); found != attributes.end())
        for (const char* known : {"mean", "cls", "pooled"})
            if (found->second == known) origin.vectors = known;
    origin.is_of_earlier_version = attributes.contains("weights_crc32") && !origin.encoder_crc32;
    return origin;
}

}  // namespace bertpretrain
