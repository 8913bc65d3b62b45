#include "archive/safetensors_reader.h"

#include "core/error.h"
#include "text/formats/foreign_file.h"

namespace bertpretrain {
namespace {

SafetensorsHeader parse(const MappedFile& mapped) {
    try {
        return parse_safetensors_header(mapped.bytes());
    } catch (const SafetensorsRefusal& refusal) {
        const std::string_view head = mapped.head(foreign_head_bytes);
        const bool has_header = head.size() > 8 && head[8] == '{';
        if (const auto found = has_header ? std::nullopt : known_file(head))
            throw CheckpointError(refusal_of(mapped.file().string(), *found, "a safetensors file"));
        throw CheckpointError(concat(mapped.file().string(), ": damaged, cut short or not a safetensors file: ", refusal.what()));
    }
}

}  // namespace

SafetensorsReader::SafetensorsReader(const std::filesystem::path& file) : mapped_(file), header_(parse(mapped_)) {
    for (std::size_t i = 0; i < header_.tensors.size(); ++i) by_name_.emplace(header_.tensors[i].name, i);
}

const SafetensorsEntry* SafetensorsReader::find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &header_.tensors[found->second];
}

std::span<const std::byte> SafetensorsReader::bytes(const SafetensorsEntry& tensor) const {
    return mapped_.bytes().subspan(tensor.offset, tensor.bytes);
}

void SafetensorsReader::read_as_float(const SafetensorsEntry& tensor, std::int64_t first, std::int64_t count, float* into) const {
    const std::int64_t elements = tensor.elements();
    check(first >= 0 && count >= 0 && first <= elements && count <= elements - first, "elements [", first, ", ", first, " + ",
          count, ") requested from a tensor of ", elements);
    const std::size_t item = dtype_bytes(tensor.dtype);
    elements_as_float(tensor.dtype, bytes(tensor).data() + static_cast<std::size_t>(first) * item, count, 1, into);
}

}  // namespace bertpretrain
