#include "archive/pt_reader.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

#include "archive/printable.h"
#include "archive/pt_stream.h"
#include "archive/unpickler.h"
#include "core/error.h"
#include "text/formats/foreign_file.h"

namespace bertpretrain {
namespace {

/// @throws CheckpointError naming the format if it is another one that users often have
void refuse_other_formats(const std::filesystem::path& file, std::span<const std::byte> bytes) {
    const std::string_view start(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), foreign_head_bytes));
    if (start.size() > 262 && start.substr(257, 5) == "ustar" && file.extension() == ".nemo")
        throw CheckpointError(concat(file.string(), ": is an archive of NeMo, expected a .pt file",
                                     "\n  do: unpack it with tar, and give its model_weights.ckpt"));
    if (start.size() > 262 && start.substr(257, 5) == "ustar")
        throw CheckpointError(concat(file.string(),
                                     ": is in the oldest format of PyTorch (a tar archive), which is not supported",
                                     "\n  do: load it in Python and save it again with torch.save"));
    if (start.size() > 9 && start[8] == '{')
        throw CheckpointError(concat(file.string(), ": looks like a safetensors file, expected a .pt file",
                                     "\n  do: give it a name that ends with .safetensors"));
    const auto found = start.starts_with("PK") ? std::nullopt : known_file(start);
    if (found) throw CheckpointError(refusal_of(file.string(), *found, "a .pt file"));
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

/// Calls visit(position, length, stride) for runs of the storage that together are elements [first, first + count) of the tensor,
/// in row-major order. A contiguous tensor gives one run of stride 1.
/// @throws std::logic_error when the tensor has fewer elements
void for_each_run(const PtTensor& tensor, std::int64_t first, std::int64_t count,
                  const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& visit) {
    const std::int64_t elements = tensor.elements();
    check(first >= 0 && count >= 0 && first <= elements && count <= elements - first, "elements [", first, ", ", first, " + ",
          count, ") requested from a tensor of ", elements);
    if (count == 0) return;
    if (tensor.is_contiguous()) return visit(tensor.storage_offset + first, count, 1);
    const std::size_t last = tensor.shape.size() - 1;  // a scalar is contiguous, so there is an axis
    while (count > 0) {
        std::int64_t position = tensor.storage_offset, rest = first;
        for (std::size_t axis = tensor.shape.size(); axis-- > 0; rest /= tensor.shape[axis])
            position += rest % tensor.shape[axis] * tensor.strides[axis];
        const std::int64_t length = std::min(count, tensor.shape[last] - first % tensor.shape[last]);
        visit(position, length, tensor.strides[last]);
        first += length;
        count -= length;
    }
}

}  // namespace

PtReader::PtReader(const std::filesystem::path& file, Checksums checksums) : file_(file) {
    auto mapped = std::make_unique<MappedFile>(file);
    refuse_other_formats(file, mapped->bytes());
    try {
        if (is_pt_stream(mapped->bytes())) open_stream(std::move(mapped));
        else open_zip(checksums);
    } catch (const PickleRefusal& refusal) { throw CheckpointError(concat(file.string(), ": ", refusal.what())); }
}

void PtReader::open_stream(std::unique_ptr<const MappedFile> mapped) {
    stream_ = std::move(mapped);
    PtStream content = read_pt_stream(stream_->bytes());
    root_ = std::move(content.root);
    for_each_tensor(root_, [&](const std::string& path, const PtTensor& tensor) {
        const auto found = content.storages.find(tensor.storage);
        if (found == content.storages.end()) refuse_storage(path, "its storage ", printable(tensor.storage), " is missing");
        add_storage(path, tensor, found->second, std::nullopt);
    });
}

void PtReader::open_zip(Checksums checksums) {
    zip_.emplace(file_);
    checked_.reset(new std::atomic<bool>[zip_->entries().size()]);
    for (std::size_t i = 0; i < zip_->entries().size(); ++i) checked_[i] = checksums == Checksums::never;
    const std::string folder = archive_folder(*zip_);
    if (const auto order = zip_->find(folder + "byteorder"); order && text_of(zip_->entries()[*order]) != "little")
        throw CheckpointError(concat(file_.string(), ": its byteorder is not \"little\", the only one that is supported"));
    const std::size_t pickle = *zip_->find(folder + "data.pkl");
    if (zip_->entries()[pickle].bytes.size() > largest_pickle)
        throw CheckpointError(concat(file_.string(), ": its data.pkl is larger than 16 MiB, the limit for checkpoints"));
    check_record(pickle, "");
    root_ = unpickle(zip_->entries()[pickle].bytes);
    for_each_tensor(root_, [&](const std::string& path, const PtTensor& tensor) {
        const auto entry = zip_->find(folder + "data/" + tensor.storage);
        if (!entry) refuse_storage(path, "its record data/", printable(tensor.storage), " is missing");
        add_storage(path, tensor, zip_->entries()[*entry].bytes, entry);
    });
}

template <class... What>
void PtReader::refuse_storage(const std::string& tensor, const What&... what) const {
    throw CheckpointError(concat(file_.string(), ": tensor \"", printable(tensor, 300), "\": ", what...));
}

void PtReader::add_storage(const std::string& path, const PtTensor& tensor, std::span<const std::byte> bytes,
                           std::optional<std::size_t> entry) {
    const std::uint64_t item = dtype_bytes(tensor.dtype);
    if (bytes.size() % item != 0 || bytes.size() / item != static_cast<std::uint64_t>(tensor.storage_elements))
        refuse_storage(path, "its storage has ", tensor.storage_elements, " elements of ", item, " bytes, but record data/",
                       printable(tensor.storage), " has ", bytes.size(), " bytes");
    storages_.try_emplace(tensor.storage, Storage{bytes, entry, path});
}

void PtReader::check_record(std::size_t entry, const std::string& tensor) const {
    if (checked_[entry]) return;
    if (!zip_->is_intact(entry))
        throw CheckpointError(
            concat(file().string(), ": damaged: ", tensor.empty() ? "" : "tensor \"" + printable(tensor, 300) + "\", ", "record ",
                   printable(zip_->entries()[entry].name), " does not match the CRC-32 in the directory of the zip"));
    checked_[entry] = true;
}

std::span<const std::byte> PtReader::storage(const PtTensor& tensor) const {
    const auto found = storages_.find(tensor.storage);
    check(found != storages_.end(), "the tensor does not belong to this file");
    if (found->second.entry) check_record(*found->second.entry, found->second.tensor);
    return found->second.bytes;
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

std::optional<std::uint32_t> PtReader::crc32(const PtTensor& tensor) const {
    const auto found = storages_.find(tensor.storage);
    if (found == storages_.end() || !found->second.entry) return std::nullopt;
    if (!tensor.is_contiguous() || tensor.elements() != tensor.storage_elements) return std::nullopt;
    return zip_->entries()[*found->second.entry].crc32;
}

void PtReader::verify() const {
    if (!zip_) return;
    for (const auto& [key, storage] : storages_) check_record(*storage.entry, storage.tensor);
    for (std::size_t i = 0; i < zip_->entries().size(); ++i) check_record(i, "");
}

}  // namespace bertpretrain
