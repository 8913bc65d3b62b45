// Checks that a checkpoint's files still contain the bytes that were written.

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "archive/checksum.h"
#include "archive/pt_reader.h"
#include "checkpoint/checkpoint_files.h"
#include "core/error.h"
#include "core/files/disk.h"
#include "core/threads/threads.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t part_bytes = std::uint64_t{8} << 20;

[[noreturn]] void fail(const fs::path& file, int reason) {
    throw CheckpointError(concat(file.string(), ": cannot be read (", std::strerror(reason), ")"));
}

/// Reads with pread instead of mmap, so that a failing disk causes an error and not a signal (SIGBUS).
class PartReader {
public:
    explicit PartReader(const fs::path& file) : file_(file), handle_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
        if (handle_ < 0) fail(file_, errno);
    }
    PartReader(const PartReader&) = delete;
    PartReader& operator=(const PartReader&) = delete;
    ~PartReader() { ::close(handle_); }

    std::uint32_t crc32(std::uint64_t begin, std::uint64_t bytes) const {
        std::vector<std::byte> content(bytes);
        if (read_fully(handle_, begin, content.data(), bytes) < bytes) {
            if (errno != 0) fail(file_, errno);
            throw CheckpointError(concat(file_.string(), ": damaged: it became shorter while it was read"));
        }
        return crc32_of(content);
    }

private:
    const fs::path& file_;
    int handle_;
};

std::uint32_t crc32_of_whole(const fs::path& file, std::uint64_t bytes, const std::function<void()>& sign_of_life) {
    constexpr std::size_t most_threads = 16;
    const PartReader reader(file);
    std::vector<std::uint32_t> parts((bytes + part_bytes - 1) / part_bytes);
    const auto size_of = [&](std::size_t part) { return std::min(part_bytes, bytes - part * part_bytes); };
    for_each_index(parts.size(), std::min(available_cores(), most_threads), [&](std::size_t part) {
        parts[part] = reader.crc32(part * part_bytes, size_of(part));
        if (sign_of_life) sign_of_life();
    });
    std::uint32_t crc = 0;
    for (std::size_t part = 0; part < parts.size(); ++part) crc = crc32_joined(crc, parts[part], size_of(part));
    return crc;
}

/// Returns a line that names the damaged tensor of a .pt file, where the file's structure is still readable; else "".
std::string place_of_damage(const fs::path& file) {
    if (file.extension() != ".pt") return "";
    try {
        PtReader(file).verify();
        return "\n  all tensors are intact: the damage is between them or in the zip directory";
    } catch (const CheckpointError& error) { return concat("\n  ", error.what()); }
}

}  // namespace

std::string damage_of_contents(const fs::path& folder, const CompleteMark& mark, const std::function<void()>& sign_of_life) {
    check_sizes(folder, mark);
    for (const auto& [name, expected] : mark.files) {
        const fs::path file = folder / name;
        if (crc32_of_whole(file, expected.bytes, sign_of_life) != expected.crc32)
            return concat(file.string(), ": damaged: its CRC-32 differs from the one in ", complete_file, place_of_damage(file));
    }
    return "";
}

void check_contents(const fs::path& folder, const CompleteMark& mark) {
    if (const std::string damage = damage_of_contents(folder, mark); !damage.empty())
        throw CheckpointError(damage +
                              "\n  do: name the folder of an older checkpoint, step_N; `train` takes one by --resume STEP");
}

}  // namespace bertpretrain
