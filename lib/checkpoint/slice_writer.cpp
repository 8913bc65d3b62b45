#include "checkpoint/slice_writer.h"

#include <algorithm>
#include <cstring>

#include "archive/checksum.h"
#include "checkpoint/checkpoint_files.h"
#include "core/error.h"

namespace bertpretrain {
namespace {

/// The header before the bytes of a packed part.
struct PartHeader {
    std::uint64_t file, record, offset, bytes, crc32;
};

template <class KeyOf>
void add_parts(std::vector<SlicePart>& parts, SlicePart::File file, const PtLayout& layout, const TensorSet& set,
               const KeyOf& key_of, std::size_t largest) {
    for (const TensorPiece& piece : set.pieces) {
        check(piece.tensor < set.tensors.size() && piece.first_element >= 0 && piece.elements >= 0,
              "a piece has no tensor or a negative range");
        const auto bytes = std::as_bytes(std::span(piece.data, static_cast<std::size_t>(piece.elements)));
        const std::uint64_t begin = static_cast<std::uint64_t>(piece.first_element) * sizeof(float);
        const std::uint64_t record = layout.record_of(key_of(piece.tensor));
        for (std::size_t at = 0; at < bytes.size(); at += largest)
            parts.push_back({file, record, begin + at, bytes.subspan(at, std::min(largest, bytes.size() - at))});
    }
}

}  // namespace

std::string SlicePart::pack() const {
    const PartHeader header{static_cast<std::uint64_t>(file), record, offset, bytes.size(), crc32_of(bytes)};
    std::string packed(sizeof header + bytes.size(), '\0');
    std::memcpy(packed.data(), &header, sizeof header);
    if (!bytes.empty()) std::memcpy(packed.data() + sizeof header, bytes.data(), bytes.size());
    return packed;
}

std::vector<SlicePart> slice_parts(const TrainingState& state, std::size_t largest) {
    std::vector<SlicePart> parts;
    add_parts(
        parts, SlicePart::File::model, model_layout(state), state.parameters,
        [](std::size_t tensor) { return std::to_string(tensor); }, largest);
    const PtLayout layout = optimizer_layout(state);
    std::size_t moment = 0;
    for (const auto& [name, set] : state.moments) {
        const auto key_of = [&](std::size_t tensor) { return moment_storage(moment, tensor); };
        add_parts(parts, SlicePart::File::optimizer, layout, set, key_of, largest);
        ++moment;
    }
    return parts;
}

SliceWriter::SliceWriter(const std::filesystem::path& folder, const TrainingState& state)
    : model_(folder / model_file, model_layout(state), PtWriter::Open::existing),
      optimizer_(folder / optimizer_file, optimizer_layout(state), PtWriter::Open::existing) {}

void SliceWriter::write(const SlicePart& part) {
    const bool of_model = part.file == SlicePart::File::model;
    PtWriter& file = of_model ? model_ : optimizer_;
    (of_model ? receipt_.model : receipt_.optimizer).push_back(file.write_piece(part.record, part.offset, part.bytes));
}

void SliceWriter::write(std::string_view packed) {
    PartHeader header{};
    if (packed.size() >= sizeof header) std::memcpy(&header, packed.data(), sizeof header);
    const auto bytes = std::as_bytes(std::span(packed.substr(std::min(sizeof header, packed.size()))));
    if (packed.size() < sizeof header || header.bytes > bytes.size() || crc32_of(bytes.first(header.bytes)) != header.crc32)
        throw CheckpointError("a part of a checkpoint that another rank sent arrived damaged");
    if (header.bytes == 0) return;
    write(SlicePart{static_cast<SlicePart::File>(header.file), header.record, header.offset, bytes.first(header.bytes)});
}

SaveReceipt SliceWriter::flush() {
    model_.flush();
    optimizer_.flush();
    return receipt_;
}

}  // namespace bertpretrain
