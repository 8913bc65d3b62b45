#pragma once
// Sequential reading of a file, an object in a store, or standard input.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/files/file_digest.h"

namespace bertpretrain {

class ObjectReader;

/// The path that stands for standard input.
inline const std::filesystem::path standard_input = "-";

/// Whether an input can be read more than once: a file or an object in a store, but no pipe and not standard input.
bool can_be_read_again(const std::filesystem::path& input);

class ByteSource {
public:
    /// @param path a file, the address of an object (remote_address.h), or standard_input
    /// @param digest gets all bytes that are read; may be null
    /// @throws DataError when it cannot be opened or is a folder  @throws ConfigError when the address is invalid
    explicit ByteSource(const std::filesystem::path& path, std::shared_ptr<RunningDigest> digest = nullptr);
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;
    ~ByteSource();

    /// Reads up to `size` bytes; returns 0 only at the end. @throws DataError when reading fails; of an object what RemoteObject
    /// throws
    std::size_t read(char* into, std::size_t size);

    /// Returns the next `size` bytes without consuming them, fewer only at the end. @throws DataError when reading fails
    std::string_view peek(std::size_t size);

    const std::string& name() const { return name_; }     ///< for messages
    std::uint64_t position() const { return position_; }  ///< number of bytes consumed

private:
    std::size_t read_file(char* into, std::size_t size);
    std::size_t read_input(char* into, std::size_t size);

    std::string name_;
    std::shared_ptr<RunningDigest> digest_;
    int handle_ = -1;
    bool owns_handle_ = true;
    std::unique_ptr<ObjectReader> object_;  ///< instead of a file; else null
    std::uint64_t taken_ = 0;               ///< number of bytes read from the input, those of peeked_ included
    std::uint64_t position_ = 0;
    std::string peeked_;
};

}  // namespace bertpretrain
