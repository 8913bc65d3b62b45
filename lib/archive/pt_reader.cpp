#include "archive/pt_reader.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "archive/mapped_file.h"
#include "archive/printable.h"
#include "archive/strided_range.h"
#include "archive/unpickler.h"
#include "core/error.h"

namespace bertpretrain {
namespace {

constexpr std::size_t largest_pickle = std::size_t{16} << 20;

/// Returns `file`, unless it has one of the other formats that users often have. @throws CheckpointError naming the format
const std::filesystem::path& recognised(const std::filesystem::path& file) {
    using namespace std::string_view_literals;
    const MappedFile mapped(file);
    const std::string_view start(reinterpret_cast<const char*>(mapped.bytes().data()),
                                 std::min<std::size_t>(mapped.bytes().size(), 512));
    constexpr auto stream_magic = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"sv;
    const auto refuse = [&](const char* what) {
        throw CheckpointError(concat(file.string(), ": ", what, "\n  do: load it in Python and save it again with torch.save"));
    };
    if (start.substr(0, 32).find(stream_magic) != std::string_view::npos)
        refuse("is in the format of PyTorch before 1.6 (a stream of pickles), which is not supported");
    if (start.size() > 262 && start.substr(257, 5) == "ustar")
        refuse("is in the oldest format of PyTorch (a tar archive), which is not supported");
    if (start.size() > 9 && start[8] == '{') refuse("looks like a safetensors file, expected a .pt file");
    return file;
}

/// Returns the name of the folder that holds all records of the zip, with its slash.
std::string archive_folder(const ZipReader& zip) {
    std::string folder;
    for (const ZipEntry& entry : zip.entries()) {
        const std::size_t slash = entry.name.find('/');
        if (slash == std::string::npos || entry.name.substr(slash) != "/data.pkl") continue;
        if (!folder.empty()) throw CheckpointError(concat(zip.file().string(), ": damaged: holds two data.pkl files"));
        folder = entry.name.substr(0, slash + 1);
    }
    if (folder.empty()) throw CheckpointError(concat(zip.file().string(), ": holds no data.pkl, so torch.save did not write it"));
    for (const ZipEntry& entry : zip.entries())
        if (entry.name.starts_with(folder + "code/") || entry.name == folder + "constants.pkl")
            throw CheckpointError(concat(zip.file().string(), ": is a TorchScript program, expected tensors\n",
                                         "  do: in Python, torch.save(torch.jit.load(FILE).state_dict(), NEW)"));
    for (const ZipEntry& entry : zip.entries())
        if (!entry.stored)
            throw CheckpointError(concat(zip.file().string(), ": ", printable(entry.name),
                                         " is compressed, expected stored without compression as torch.save does",
                                         "\n  do: load it in Python and save it again with torch.save"));
    return folder;
}

std::string_view text_of(const ZipEntry& entry) {
    return {reinterpret_cast<const char*>(entry.bytes.data()), entry.bytes.size()};
}

}  // namespace

PtReader::PtReader(const std::filesystem::path& file, Checksums checksums)
    : zip_(recognised(file)), checked_(new std::atomic<bool>[zip_.entries().size()]) {
    for (std::size_t i = 0; i < zip_.entries().size(); ++i) checked_[i] = checksums == Checksums::never;
    folder_ = archive_folder(zip_);
    if (const auto order = zip_.find(folder_ + "byteorder"); order && text_of(zip_.entries()[*order]) != "little")
        throw CheckpointError(concat(file.string(), ": its byteorder is not \"little\", the only one that is supported"));
    const std::size_t pickle = *zip_.find(folder_ + "data.pkl");
    if (zip_.entries()[pickle].bytes.size() > largest_pickle)
        throw CheckpointError(concat(file.string(), ": its data.pkl is larger than 16 MiB, the limit for checkpoints"));
    check_record(pickle, "");
    try {
        root_ = unpickle(zip_.entries()[pickle].bytes);
    } catch (const PickleRefusal& refusal) { throw CheckpointError(concat(file.string(), ": ", refusal.what())); }
    learn_storages();
}

void PtReader::learn_storages() {
    for_each_tensor(root_, [&](const std::string& path, const PtTensor& tensor) {
        const auto refuse = [&](const auto&... what) {
            throw CheckpointError(concat(file().string(), ": tensor \"", printable(path, 300), "\": ", what...));
        };
        const auto entry = zip_.find(folder_ + "data/" + tensor.storage);
        if (!entry) refuse("its record data/", printable(tensor.storage), " is missing");
        const std::uint64_t bytes = zip_.entries()[*entry].bytes.size(), item = dtype_bytes(tensor.dtype);
        if (bytes % item != 0 || bytes / item != static_cast<std::uint64_t>(tensor.storage_elements))
            refuse("its storage has ", tensor.storage_elements, " elements of ", item, " bytes, but record data/",
                   printable(tensor.storage), " has ", bytes, " bytes");
        storages_.try_emplace(tensor.storage, Storage{*entry, path});
    });
}

void PtReader::check_record(std::size_t entry, const std::string& tensor) const {
    if (checked_[entry]) return;
    if (!zip_.is_intact(entry))
        throw CheckpointError(
            concat(file().string(), ": damaged: ", tensor.empty() ? "" : "tensor \"" + printable(tensor, 300) + "\", ", "record ",
                   printable(zip_.entries()[entry].name), " does not match the CRC-32 in the directory of the zip"));
    checked_[entry] = true;
}

std::span<const std::byte> PtReader::storage(const PtTensor& tensor) const {
    const auto found = storages_.find(tensor.storage);
    check(found != storages_.end(), "the tensor does not belong to this file");
    check_record(found->second.entry, found->second.tensor);
    return zip_.entries()[found->second.entry].bytes;
}

void PtReader::read(const PtTensor& tensor, std::int64_t first, std::int64_t count, void* into) const {
    const std::span<const std::byte> bytes = storage(tensor);
    const std::size_t item = dtype_bytes(tensor.dtype);
    auto* out = static_cast<std::byte*>(into);
    for_each_run(tensor, first, count, [&](std::int64_t position, std::int64_t length, std::int64_t stride) {
        const std::byte* from = bytes.data() + static_cast<std::size_t>(position) * item;
        const std::size_t step = static_cast<std::size_t>(stride) * item;
        if (stride == 1) std::memcpy(out, from, static_cast<std::size_t>(length) * item);
        else
            for (std::int64_t i = 0; i < length; ++i)
                std::memcpy(out + static_cast<std::size_t>(i) * item, from + static_cast<std::size_t>(i) * step, item);
        out += static_cast<std::size_t>(length) * item;
    });
}

void PtReader::read_as_float(const PtTensor& tensor, std::int64_t first, std::int64_t count, float* into) const {
    const std::span<const std::byte> bytes = storage(tensor);
    const std::size_t item = dtype_bytes(tensor.dtype);
    for_each_run(tensor, first, count, [&](std::int64_t position, std::int64_t length, std::int64_t stride) {
        elements_as_float(tensor.dtype, bytes.data() + static_cast<std::size_t>(position) * item, length, stride, into);
        into += length;
    });
}

void PtReader::verify() const {
    for (const auto& [key, storage] : storages_) check_record(storage.entry, storage.tensor);
    for (std::size_t i = 0; i < zip_.entries().size(); ++i) check_record(i, "");
}

}  // namespace bertpretrain
