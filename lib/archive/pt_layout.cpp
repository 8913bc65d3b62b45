#include "archive/pt_layout.h"

#include <algorithm>

#include "archive/pickle_writer.h"
#include "archive/zip_format.h"
#include "core/error.h"
#include "core/rounding.h"

namespace bertpretrain {
namespace {

/// Checks what torch.load and PtReader require: the last element of the view lies within its storage.
void check_fits(const std::string& path, const PtTensor& tensor) {
    check(tensor.shape.size() == tensor.strides.size(), path, ": the number of strides differs from the number of axes");
    std::int64_t end = tensor.storage_offset + 1;
    for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) end += (tensor.shape[axis] - 1) * tensor.strides[axis];
    check(tensor.elements() == 0 || end <= tensor.storage_elements, path, ": the tensor reaches beyond its storage");
}

std::string central_directory(const std::vector<PtRecord>& records) {
    std::string out;
    for (const PtRecord& record : records) out += zip::central_header({record.name, record.bytes, record.header_offset, 0});
    return out;
}

}  // namespace

PtLayout::PtLayout(const PtValue& tree, const std::string& name) {
    const auto add_text = [&](const std::string& file, std::string content) {
        PtRecord record;
        record.content = std::move(content);
        record.bytes = record.content.size();
        add_record(name + "/" + file, std::move(record));
    };
    add_text("data.pkl", pickle_of(tree));
    add_text("byteorder", "little");
    for_each_tensor(tree, [&](const std::string& path, const PtTensor& tensor) {
        check_fits(path, tensor);
        const std::uint64_t bytes = static_cast<std::uint64_t>(tensor.storage_elements) * dtype_bytes(tensor.dtype);
        const auto [found, added] = record_of_storage_.try_emplace(tensor.storage, records_.size());
        if (added) {
            PtRecord record;
            record.tensor = path;
            record.bytes = bytes;
            add_record(name + "/data/" + tensor.storage, std::move(record));
        }
        check(records_[found->second].bytes == bytes, path, ": tensors of one storage disagree about its size");
    });
    add_text("version", "3\n");
    directory_offset_ = records_.back().file_offset + records_.back().bytes;
    const std::uint64_t directory_bytes = central_directory(records_).size();
    file_bytes_ =
        directory_offset_ + directory_bytes + zip::directory_end(records_.size(), directory_offset_, directory_bytes).size();
}

void PtLayout::add_record(const std::string& name, PtRecord record) {
    record.name = name;
    record.header_offset = records_.empty() ? 0 : records_.back().file_offset + records_.back().bytes;
    const std::uint64_t least = record.header_offset + zip::least_local_bytes({name, record.bytes, 0, 0});
    record.file_offset = least;
    if (record.content.empty() && least % alignment != 0)  // 4 bytes: the header of the padding field
        record.file_offset = rounded_up(least + 4, alignment);
    records_.push_back(std::move(record));
}

std::size_t PtLayout::record_of(std::string_view storage) const {
    const auto found = record_of_storage_.find(std::string(storage));
    check(found != record_of_storage_.end(), "no storage \"", storage, "\" in this layout");
    return found->second;
}

}  // namespace bertpretrain
