#pragma once
// Reads a file of Python's torch.save (or ours) without running or trusting anything in it.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "archive/pt_value.h"
#include "archive/zip_reader.h"

namespace bertpretrain {

/// A .pt file in the zip format of torch.save since 1.6: state_dicts, optimizer states, nested dicts, lists, tuples,
/// numbers, strings, bools, None. The file is mapped, not copied. Reading is safe from several threads.
///
/// Every member throws CheckpointError naming the file, and the tensor or class concerned, when the file is damaged, is of
/// an older format, or holds a class that is not plain data. No input makes it read outside the file.
class PtReader {
public:
    enum class Checksums { on_first_read, never };  ///< never: when the whole file has just been checked

    explicit PtReader(const std::filesystem::path& file, Checksums checksums = Checksums::on_first_read);

    const std::filesystem::path& file() const { return zip_.file(); }
    const PtValue& root() const { return root_; }

    /// The bytes of a tensor's whole storage, inside the mapping; its CRC-32 is checked at the first call.
    std::span<const std::byte> storage(const PtTensor& tensor) const;

    /// Copies elements [first, first + count) in row-major order, in the tensor's own type.
    /// @param into  room for count elements
    /// @throws std::logic_error when the tensor has fewer elements
    void read(const PtTensor& tensor, std::int64_t first, std::int64_t count, void* into) const;

    /// The same, converted to fp32.
    void read_as_float(const PtTensor& tensor, std::int64_t first, std::int64_t count, float* into) const;

    /// Checks the CRC-32 of every record.
    void verify() const;

private:
    void learn_storages();
    void check_record(std::size_t entry, const std::string& tensor) const;

    struct Storage {
        std::size_t entry;   ///< index in the zip
        std::string tensor;  ///< path of the first tensor that uses it
    };
    ZipReader zip_;
    std::string folder_;  ///< of all records in the zip, with its slash
    PtValue root_;
    std::unordered_map<std::string, Storage> storages_;
    std::unique_ptr<std::atomic<bool>[]> checked_;  ///< by entry of the zip
};

}  // namespace bertpretrain
