#pragma once
// The position of every byte of a .pt file, computed before any tensor is written.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "archive/pt_value.h"

namespace bertpretrain {

/// An uncompressed file inside the zip.
struct PtRecord {
    std::string name;                 ///< "model/data/0"
    std::string tensor;               ///< path of the first tensor in it; empty for records without tensors
    std::uint64_t header_offset = 0;  ///< offset of its local header in the .pt file
    std::uint64_t file_offset = 0;    ///< offset of its content in the .pt file; a multiple of 4,096 for tensors
    std::uint64_t bytes = 0;          ///< size of its content
    std::string content;              ///< its content, when it is not tensors
};

/// The layout of the file that torch.save would write as NAME.pt. It depends only on the tree, so all ranks compute the same one.
class PtLayout {
public:
    static constexpr std::uint64_t alignment = 4096;  ///< of tensor records, so that no two of them share a page of the file

    /// @param name the folder inside the zip, by convention the file's stem
    /// @throws std::logic_error when tensors of one storage disagree about its size, or reach beyond it
    PtLayout(const PtValue& tree, const std::string& name);

    const std::vector<PtRecord>& records() const { return records_; }
    /// Returns the index in records() of a storage. @throws std::logic_error when the storage is unknown
    std::size_t record_of(std::string_view storage) const;
    /// Offset of the zip's central directory, which follows the last record.
    std::uint64_t directory_offset() const { return directory_offset_; }
    /// Size of the whole file.
    std::uint64_t file_bytes() const { return file_bytes_; }

private:
    void add_record(const std::string& name, PtRecord record);

    std::vector<PtRecord> records_;
    std::unordered_map<std::string, std::size_t> record_of_storage_;
    std::uint64_t directory_offset_ = 0;
    std::uint64_t file_bytes_ = 0;
};

}  // namespace bertpretrain
