#pragma once
// Writes what ranks hold of a checkpoint into its two large files, part by part: one's own, or what another rank sent.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "archive/pt_writer.h"
#include "checkpoint/checkpoint_store.h"
#include "checkpoint/training_state.h"

namespace bertpretrain {

/// Some bytes of one tensor record of model.pt or optimizer.pt, in this process's memory.
struct SlicePart {
    enum class File : std::uint64_t { model, optimizer } file = File::model;
    std::uint64_t record = 0;  ///< index in the file's PtLayout::records()
    std::uint64_t offset = 0;  ///< in bytes from the record's start
    std::span<const std::byte> bytes;

    /// As a message: where the bytes belong, their CRC-32, and the bytes.
    std::string pack() const;
};

/// All pieces of a state, model first, cut into parts of at most `largest` bytes.
std::vector<SlicePart> slice_parts(const TrainingState& state, std::size_t largest);

/// Both files of a save that CheckpointStore::begin() has made. All members throw CheckpointError.
class SliceWriter {
public:
    SliceWriter(const std::filesystem::path& folder, const TrainingState& state);

    void write(const SlicePart& part);
    /// The same for a packed part. @throws CheckpointError when it was damaged on its way
    void write(std::string_view packed);
    /// Forces all of it to the disk. @returns what was written
    SaveReceipt flush();

private:
    PtWriter model_, optimizer_;
    SaveReceipt receipt_;
};

}  // namespace bertpretrain
