#pragma once
// What file systems differ in: flushing folders, and limits on what may be written. Reads and writes that go on where the system
// cuts them short.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace bertpretrain {

/// Reads `size` bytes from `offset` on. @returns how many it read: fewer where the file ends (errno is then 0) or cannot be read
std::size_t read_fully(int handle, std::uint64_t offset, void* into, std::size_t size);
/// Writes all bytes from `offset` on. @returns false, with errno set, if it failed
bool write_fully(int handle, std::uint64_t offset, const void* bytes, std::size_t size);

/// Flushes an open file or folder to the disk (fsync). Some file systems (CIFS, FUSE) cannot flush folders: they count as
/// flushed.
/// @returns false, with errno set, if it failed
bool flush_handle(int handle);

/// Returns the bytes that this user may still write to the file system of `folder`. Returns nothing where it does not say: some
/// in user space (rclone, QFS) report a size of 0.
std::optional<std::uint64_t> free_bytes_of(const std::filesystem::path& folder);

/// Returns what to do about a write that failed for `reason` (errno), as the end of a message; "" where more space does not help.
std::string disk_advice(int reason);

/// Returns disk_advice() for a reason that another library describes, as in "... errno = 28, error message = 'No space left on
/// device'".
std::string advice_by_text(std::string_view description);

/// Returns the message of a write that failed for `reason` (errno): "FILE: cannot be written (No space left on device)", with
/// disk_advice().
std::string failed_write(const std::filesystem::path& file, int reason);

}  // namespace bertpretrain
