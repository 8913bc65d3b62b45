#pragma once
// Writes a .pt file that Python's torch.load reads (weights_only and mmap, on or off), from any number of processes.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "archive/pt_layout.h"

namespace bertpretrain {

/// Says that bytes of a tensor record are on the disk; plain numbers, so that it can travel between processes.
struct WrittenPiece {
    std::uint64_t record = 0;  ///< index in PtLayout::records()
    std::uint64_t offset = 0;  ///< in bytes from the record's start
    std::uint64_t bytes = 0;
    std::uint64_t crc32 = 0;
};

/// What a finished file should measure.
struct FileSummary {
    std::uint64_t bytes = 0;
    std::uint32_t crc32 = 0;
};

/// A file being written. One process creates it; then all write their pieces and flush; then one finishes it.
class PtWriter {
public:
    enum class Open { create, existing };

    /// @throws CheckpointError naming the file and the system's reason, as all members do
    PtWriter(std::filesystem::path file, PtLayout layout, Open how);
    PtWriter(const PtWriter&) = delete;
    PtWriter& operator=(const PtWriter&) = delete;
    ~PtWriter();

    const PtLayout& layout() const { return layout_; }

    /// Writes bytes of a tensor record in place; pieces may come in any order. @throws std::logic_error outside the record
    WrittenPiece write_piece(std::size_t record, std::uint64_t offset, std::span<const std::byte> bytes);

    /// Forces what this process wrote to the disk; to be called before its pieces are reported.
    void flush();

    /// Writes all that is not tensors and flushes. `pieces` are those of all processes; the file's CRC-32 is combined from
    /// theirs, so nothing is read again. @throws std::logic_error when they do not cover each record exactly once
    /// @param sign_of_life called after each write; may be empty
    FileSummary finish(std::vector<WrittenPiece> pieces, const std::function<void()>& sign_of_life = {});

private:
    void write_at(std::uint64_t offset, std::span<const std::byte> bytes);

    std::filesystem::path file_;
    PtLayout layout_;
    int handle_ = -1;
};

}  // namespace bertpretrain
