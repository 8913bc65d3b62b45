#pragma once
// Writes a .pt file from any number of processes. Python's torch.load reads it, with weights_only and mmap on or off.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "archive/pt_layout.h"

namespace bertpretrain {

/// Describes bytes of a tensor record that were written. Consists of plain numbers, so that it can be sent between processes.
struct WrittenPiece {
    std::uint64_t record = 0;  ///< index in PtLayout::records()
    std::uint64_t offset = 0;  ///< in bytes from the record's start
    std::uint64_t bytes = 0;
    std::uint64_t crc32 = 0;
};

/// The size and CRC-32 that the finished file should have.
struct FileSummary {
    std::uint64_t bytes = 0;
    std::uint32_t crc32 = 0;
};

/// A .pt file that is being written: one process creates it, all processes write their pieces and flush, and one finishes it.
class PtWriter {
public:
    enum class Open { create, existing };

    /// @throws CheckpointError with the file and the system's reason, as all members do
    PtWriter(std::filesystem::path file, PtLayout layout, Open how);
    PtWriter(const PtWriter&) = delete;
    PtWriter& operator=(const PtWriter&) = delete;
    ~PtWriter();

    const PtLayout& layout() const { return layout_; }

    /// Writes bytes of a tensor record in place. Pieces may be written in any order.
    /// @throws std::logic_error when the piece reaches beyond the record
    WrittenPiece write_piece(std::size_t record, std::uint64_t offset, std::span<const std::byte> bytes);

    /// Flushes what this process wrote to the disk. Call it before sending the pieces to the process that finishes the file.
    void flush();

    /// Writes everything except the tensors, and flushes. Reads nothing back: the file's CRC-32 is combined from the pieces'.
    /// @param pieces those of all processes
    /// @param sign_of_life called after each write; may be empty
    /// @throws std::logic_error unless the pieces cover each record exactly once
    FileSummary finish(std::vector<WrittenPiece> pieces, const std::function<void()>& sign_of_life = {});

private:
    void write_at(std::uint64_t offset, std::span<const std::byte> bytes);

    std::filesystem::path file_;
    PtLayout layout_;
    int handle_ = -1;
};

}  // namespace bertpretrain
