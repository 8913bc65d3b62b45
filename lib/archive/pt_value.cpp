#include "archive/pt_value.h"

namespace bertpretrain {

PtTensor PtTensor::whole(DType dtype, std::vector<std::int64_t> shape, std::string storage) {
    PtTensor tensor;
    tensor.dtype = dtype;
    tensor.shape = std::move(shape);
    tensor.strides.resize(tensor.shape.size());
    std::int64_t stride = 1;
    for (std::size_t axis = tensor.shape.size(); axis-- > 0;) {
        tensor.strides[axis] = stride;
        stride *= tensor.shape[axis] > 0 ? tensor.shape[axis] : 1;  // as torch computes the strides of empty tensors
    }
    tensor.storage = std::move(storage);
    tensor.storage_elements = tensor.elements();
    return tensor;
}

std::int64_t PtTensor::elements() const {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    return count;
}

bool PtTensor::is_contiguous() const {
    std::int64_t stride = 1;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
        if (shape[axis] != 1 && strides[axis] != stride) return false;
        stride *= shape[axis];
    }
    return true;
}

const PtList* PtValue::list() const {
    const auto* tuple = std::get_if<PtTuple>(&content);
    return tuple != nullptr ? &tuple->items : std::get_if<PtList>(&content);
}

const PtValue* PtValue::find(std::string_view key) const {
    const PtDict* entries = dict();
    if (entries == nullptr) return nullptr;
    for (const PtEntry& entry : *entries)
        if (const auto* name = std::get_if<std::string>(&entry.key); name != nullptr && *name == key) return &entry.value;
    return nullptr;
}

namespace {

using Visit = std::function<void(const std::string&, const PtTensor&)>;

void visit_below(const std::string& path, const PtValue& value, const Visit& visit) {
    const auto below = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
    if (const PtTensor* tensor = value.tensor()) visit(path, *tensor);
    if (const PtList* list = value.list())
        for (std::size_t i = 0; i < list->size(); ++i) visit_below(below(std::to_string(i)), (*list)[i], visit);
    if (const PtDict* dict = value.dict())
        for (const auto& [key, item] : *dict) {
            const auto* name = std::get_if<std::string>(&key);
            visit_below(below(name != nullptr ? *name : std::to_string(std::get<std::int64_t>(key))), item, visit);
        }
}

}  // namespace

void for_each_tensor(const PtValue& tree, const Visit& visit) { visit_below("", tree, visit); }

}  // namespace bertpretrain
