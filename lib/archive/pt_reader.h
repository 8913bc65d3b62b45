#pragma once
// Reads files of Python's torch.save and of PtWriter, without running or trusting anything in them.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "archive/mapped_file.h"
#include "archive/pt_value.h"
#include "archive/zip_reader.h"

namespace bertpretrain {

/// A .pt file in the zip format that torch.save uses since PyTorch 1.6, or in the stream of pickles that it used before:
/// state_dicts, optimizer states, nested dicts, lists, tuples, numbers, strings, bools, None. The file is memory-mapped. Reading
/// is thread-safe.
///
/// Every member throws CheckpointError, which names the file and the tensor or class concerned, when the file is damaged, has the
/// oldest format (a tar archive), or holds a class that is not plain data. No input makes it read outside the file.
class PtReader {
public:
    enum class Checksums { on_first_read, never };  ///< never: for a file that has just been verified as a whole

    explicit PtReader(const std::filesystem::path& file, Checksums checksums = Checksums::on_first_read);

    const std::filesystem::path& file() const { return file_; }
    const PtValue& root() const { return root_; }

    /// Returns the bytes of the tensor's whole storage, inside the mapping. Checks their CRC-32 on the first call.
    std::span<const std::byte> storage(const PtTensor& tensor) const;

    /// Copies elements [first, first + count) in row-major order, in the tensor's dtype.
    /// @param into room for `count` elements
    /// @throws std::logic_error when the tensor has fewer elements
    void read(const PtTensor& tensor, std::int64_t first, std::int64_t count, void* into) const;

    /// Like read(), converted to fp32.
    void read_as_float(const PtTensor& tensor, std::int64_t first, std::int64_t count, float* into) const;

    /// Returns the CRC-32 that the file records of the tensor's bytes. nullopt: the tensor is not a whole row-major storage, or
    /// the file has no checksums.
    std::optional<std::uint32_t> crc32(const PtTensor& tensor) const;

    /// Checks the CRC-32 of every record. The format before PyTorch 1.6 has none.
    void verify() const;

private:
    void open_zip(Checksums checksums);
    void open_stream(std::unique_ptr<const MappedFile> mapped);
    void add_storage(const std::string& path, const PtTensor& tensor, std::span<const std::byte> bytes,
                     std::optional<std::size_t> entry);
    template <class... What>
    [[noreturn]] void refuse_storage(const std::string& tensor, const What&... what) const;
    void check_record(std::size_t entry, const std::string& tensor) const;

    struct Storage {
        std::span<const std::byte> bytes;
        std::optional<std::size_t> entry;  ///< index in the zip
        std::string tensor;                ///< path of the first tensor that uses it
    };
    std::filesystem::path file_;
    std::optional<ZipReader> zip_;              ///< one of these two
    std::unique_ptr<const MappedFile> stream_;  ///< of before PyTorch 1.6
    PtValue root_;
    std::unordered_map<std::string, Storage> storages_;
    std::unique_ptr<std::atomic<bool>[]> checked_;  ///< whether the CRC-32 was checked, by entry of the zip
};

}  // namespace bertpretrain
