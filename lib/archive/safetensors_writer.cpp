#include "archive/safetensors_writer.h"

#include <algorithm>
#include <ostream>
#include <set>

#include <nlohmann/json.hpp>

#include "archive/safetensors_header.h"
#include "core/error.h"
#include "core/files/files.h"

namespace bertpretrain {
namespace {

/// Returns the length and the JSON, padded with spaces so that the tensors begin at a multiple of eight.
std::string header_of(const std::vector<SafetensorsTensor>& tensors, const std::map<std::string, std::string>& metadata) {
    nlohmann::ordered_json header = nlohmann::ordered_json::object();
    if (!metadata.empty()) header["__metadata__"] = metadata;
    std::uint64_t end = 0;
    for (const SafetensorsTensor& tensor : tensors) {
        check(!header.contains(tensor.name), "two tensors have the name ", tensor.name);
        const std::uint64_t begin = end;
        end += tensor.bytes.size();
        header[tensor.name] = {
            {"dtype", safetensors_name(tensor.dtype)}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    check(text.size() <= largest_safetensors_header, "the header of a safetensors file must have at most 100 MB");
    std::string length;
    for (std::size_t byte = 0; byte < 8; ++byte) length += static_cast<char>((text.size() >> (8 * byte)) & 0xFF);
    return length + text;
}

}  // namespace

void write_safetensors(const std::filesystem::path& file, std::vector<SafetensorsTensor> tensors,
                       const std::map<std::string, std::string>& metadata) {
    std::stable_sort(tensors.begin(), tensors.end(), [](const SafetensorsTensor& a, const SafetensorsTensor& b) {
        return dtype_bytes(a.dtype) > dtype_bytes(b.dtype);
    });
    for (const SafetensorsTensor& tensor : tensors) {
        std::uint64_t bytes = dtype_bytes(tensor.dtype);
        for (const std::int64_t size : tensor.shape) bytes *= static_cast<std::uint64_t>(size);
        check(bytes == tensor.bytes.size(), tensor.name, ": ", tensor.bytes.size(), " bytes, but its dtype x shape is ", bytes);
    }
    const std::string header = header_of(tensors, metadata);
    write_atomically(file, [&](std::ostream& out) {
        out.write(header.data(), static_cast<std::streamsize>(header.size()));
        for (const SafetensorsTensor& tensor : tensors)
            out.write(reinterpret_cast<const char*>(tensor.bytes.data()), static_cast<std::streamsize>(tensor.bytes.size()));
    });
}

}  // namespace bertpretrain
