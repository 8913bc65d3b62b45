#pragma once
// Where every byte of a .pt file will lie, known before any tensor is written.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "archive/pt_value.h"

namespace bertpretrain {

/// One stored file of the zip.
struct PtRecord {
    std::string name;                 ///< "model/data/0"
    std::string tensor;               ///< path of the first tensor in it; empty for records without tensors
    std::uint64_t header_offset = 0;  ///< of its local header
    std::uint64_t file_offset = 0;    ///< of its first byte; a multiple of 4,096 for tensors
    std::uint64_t bytes = 0;
    std::string content;  ///< of records without tensors
};

/// The layout of what torch.save would call NAME.pt. It follows from the tree alone, so all ranks compute the same.
class PtLayout {
public:
    static constexpr std::uint64_t alignment = 4096;  ///< of tensor records: no page of the file has two writers

    /// @param name  the folder inside the zip, customarily the file's stem
    /// @throws std::logic_error when tensors of one storage disagree about it, or reach beyond it
    PtLayout(const PtValue& tree, const std::string& name);

    const std::vector<PtRecord>& records() const { return records_; }
    /// The index in records() of the tensor's storage. @throws std::logic_error for an unknown storage
    std::size_t record_of(std::string_view storage) const;
    /// Where the central directory begins: behind the last record.
    std::uint64_t directory_offset() const { return directory_offset_; }
    /// Of the whole file.
    std::uint64_t file_bytes() const { return file_bytes_; }

private:
    void add_record(const std::string& name, PtRecord record);

    std::vector<PtRecord> records_;
    std::unordered_map<std::string, std::size_t> record_of_storage_;
    std::uint64_t directory_offset_ = 0;
    std::uint64_t file_bytes_ = 0;
};

}  // namespace bertpretrain
