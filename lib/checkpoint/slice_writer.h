#pragma once
// Writes slices of a checkpoint into its two large files, part by part: this rank's own, or those that other ranks sent.

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

/// A byte range of one tensor record of model.pt or optimizer.pt. Does not own the bytes.
struct SlicePart {
    enum class File : std::uint64_t { model, optimizer } file = File::model;
    std::uint64_t record = 0;  ///< index in the file's PtLayout::records()
    std::uint64_t offset = 0;  ///< bytes from the record's start
    std::span<const std::byte> bytes;

    /// Serializes the part for a message: destination, CRC-32 and bytes.
    std::string pack() const;
};

/// Returns all pieces of a state, model first, split into parts of at most `largest` bytes.
std::vector<SlicePart> slice_parts(const TrainingState& state, std::size_t largest);

/// Writes both files of a save, which CheckpointStore::begin() has created. All members throw CheckpointError.
class SliceWriter {
public:
    SliceWriter(const std::filesystem::path& folder, const TrainingState& state);

    void write(const SlicePart& part);
    /// Writes a packed part. @throws CheckpointError when it is malformed or its CRC-32 does not match
    void write(std::string_view packed);
    /// Fsyncs both files. @returns the receipt of everything written so far
    SaveReceipt flush();

private:
    PtWriter model_, optimizer_;
    SaveReceipt receipt_;
};

}  // namespace bertpretrain
