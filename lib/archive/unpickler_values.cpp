#include "archive/unpickler_values.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "archive/printable.h"
#include "core/concat.h"

namespace bertpretrain {
namespace {

constexpr int deepest = 64;
constexpr std::size_t most_tensor_axes = 64, longest_key = 64;

std::string class_name(std::string_view global) {
    const std::size_t end = global.find('\n');
    return printable(std::string(global.substr(0, end)) + "." + std::string(global.substr(end + 1)));
}

/// Returns the number of elements from the storage's start to the tensor's last one: 0 for an empty tensor, nullopt when a size
/// or stride is negative or the number exceeds 64 bits.
std::optional<std::int64_t> extent(const PtTensor& tensor) {
    std::int64_t last = tensor.storage_offset, elements = 1;
    bool empty = false;
    for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
        const std::int64_t size = tensor.shape[axis], stride = tensor.strides[axis];
        std::int64_t reach = 0;
        if (size < 0 || stride < 0 || __builtin_mul_overflow(size, stride, &reach)) return std::nullopt;
        if (size == 0) empty = true;
        if (size > 0 &&
            (__builtin_mul_overflow(elements, size, &elements) || __builtin_add_overflow(last, reach - stride, &last)))
            return std::nullopt;
    }
    if (empty) return 0;
    return __builtin_add_overflow(last, 1, &last) ? std::nullopt : std::optional(last);
}

/// Calls whose results no reader of weights needs.
constexpr std::array<std::string_view, 8> skipped_calls{"torch.device",          "torch.serialization._get_layout",
                                                        "_codecs.encode",        "torch._utils._rebuild_meta_tensor_no_storage",
                                                        "builtins.bytearray",    "builtins.complex",
                                                        "__builtin__.bytearray", "__builtin__.complex"};

}  // namespace

bool is_dtype_global(std::string_view global) {
    static constexpr std::array<std::string_view, 5> kinds{"torch\nfloat", "torch\nbfloat", "torch\nint", "torch\nuint",
                                                           "torch\ncomplex"};
    return global == "torch\nbool" ||
           std::any_of(kinds.begin(), kinds.end(), [&](std::string_view kind) { return global.starts_with(kind); });
}

ValueIndex UnpickledValues::add(UnpickledValue value) {
    spend(sizeof value + sizeof(ValueIndex) * value.items.capacity());
    values_.push_back(std::move(value));
    return static_cast<ValueIndex>(values_.size() - 1);
}

UnpickledValue& UnpickledValues::expect(ValueIndex index, Kind kind, std::string_view what) {
    if (values_[index].kind != kind) refuse_pickle(concat("its data.pkl is malformed: ", what, " has the wrong type"));
    return values_[index];
}

std::vector<std::int64_t> UnpickledValues::integers(ValueIndex tuple, std::string_view what) {
    std::vector<std::int64_t> numbers;
    const std::vector<ValueIndex>& items = expect(tuple, Kind::tuple, what).items;
    if (items.size() > most_tensor_axes)
        refuse_pickle(concat("its data.pkl is malformed: ", what, " has more than ", most_tensor_axes, " axes"));
    for (const ValueIndex item : items) numbers.push_back(expect(item, Kind::integer, what).integer);
    return numbers;
}

ValueIndex UnpickledValues::make_storage(ValueIndex persistent_id) {
    const std::vector<ValueIndex> parts = expect(persistent_id, Kind::tuple, "the tuple of a persistent id").items;
    const bool is_earlier = parts.size() == 6 && values_[parts[5]].kind == Kind::none;
    if ((parts.size() != 5 && !is_earlier) || expect(parts[0], Kind::text, "the word 'storage'").text != "storage")
        refuse_pickle("its data.pkl is malformed: a persistent id is not a storage");
    const std::string_view global = expect(parts[1], Kind::global, "the class of a storage").text;
    const std::optional<DType> dtype = global.starts_with("torch\n") ? dtype_of_storage_class(global.substr(6)) : std::nullopt;
    if (!dtype) refuse_pickle(concat("it holds tensors of the type ", class_name(global), ", which is not supported"));
    PtTensor storage;
    storage.dtype = *dtype;
    storage.storage = expect(parts[2], Kind::text, "the key of a storage").text;
    if (storage.storage.size() > longest_key)
        refuse_pickle("its data.pkl is malformed: the key of a storage is longer than 64 bytes");
    expect(parts[3], Kind::text, "the device of a storage");
    storage.storage_elements = expect(parts[4], Kind::integer, "the size of a storage").integer;
    if (storage.storage_elements < 0) refuse_pickle("its data.pkl is malformed: a storage has a negative size");
    spend(sizeof storage + storage.storage.size());
    tensors_.push_back(std::move(storage));
    return add(UnpickledValue(Kind::storage, static_cast<std::int64_t>(tensors_.size() - 1)));
}

ValueIndex UnpickledValues::make_tensor(const std::vector<ValueIndex>& arguments) {
    if (arguments.size() != 4 && arguments.size() != 6 && arguments.size() != 7)
        refuse_pickle("its data.pkl is malformed: a tensor has neither 4, 6 nor 7 arguments");
    const UnpickledValue& storage = expect(arguments[0], Kind::storage, "the storage of a tensor");
    PtTensor tensor = tensors_[static_cast<std::size_t>(storage.integer)];
    tensor.storage_offset = expect(arguments[1], Kind::integer, "the offset of a tensor").integer;
    tensor.shape = integers(arguments[2], "the shape of a tensor");
    tensor.strides = integers(arguments[3], "the strides of a tensor");
    if (tensor.shape.size() != tensor.strides.size())
        refuse_pickle("its data.pkl is malformed: a tensor's shape and strides differ in length");
    const std::optional<std::int64_t> end = extent(tensor);
    if (tensor.storage_offset < 0 || !end || *end > tensor.storage_elements)
        refuse_pickle(concat("a tensor reaches beyond its storage \"", printable(tensor.storage), "\" of ",
                             tensor.storage_elements, " elements"));
    spend(sizeof tensor + tensor.storage.size() + 16 * tensor.shape.size());
    tensors_.push_back(std::move(tensor));
    return add(UnpickledValue(Kind::tensor, static_cast<std::int64_t>(tensors_.size() - 1)));
}

/// Returns the first argument, which must be a tensor.
ValueIndex UnpickledValues::tensor_of(const std::vector<ValueIndex>& arguments, std::string_view what) {
    expect(arguments[0], Kind::tensor, what);
    return arguments[0];
}

ValueIndex UnpickledValues::call(ValueIndex function, ValueIndex arguments) {
    const std::string name = class_name(expect(function, Kind::global, "a function that is called").text);
    const std::vector<ValueIndex> items = expect(arguments, Kind::tuple, "the arguments of a call").items;
    if (name == "torch._utils._rebuild_tensor_v2" || name == "torch._utils._rebuild_tensor") return make_tensor(items);
    if ((name == "torch._utils._rebuild_parameter" && items.size() == 3) ||
        (name == "torch._utils._rebuild_parameter_with_state" && items.size() == 4))
        return tensor_of(items, "the data of a Parameter");
    if (name == "torch._utils._rebuild_device_tensor_from_cpu_tensor" && items.size() == 4)  // XLA
        return tensor_of(items, "the data of a device's tensor");
    if (name == "torch._tensor._rebuild_from_type_v2" && items.size() == 4) {  // function, class, its arguments, attributes
        const std::string_view function_name = expect(items[0], Kind::global, "a function that is called").text;
        if (function_name != "torch._tensor\n_rebuild_from_type_v2") return call(items[0], items[2]);
    }
    if (name == "torch.Size" && items.size() == 1) {
        integers(items[0], "a torch.Size");
        return items[0];
    }
    if ((name == "__builtin__.set" || name == "builtins.set") && items.size() == 1) {
        expect(items[0], Kind::list, "the items of a set");
        return items[0];
    }
    if (name == "collections.Counter" && items.size() == 1) {
        expect(items[0], Kind::dict, "the items of a Counter");
        return items[0];
    }
    if (name == "collections.OrderedDict" && items.empty()) return add(UnpickledValue(Kind::dict));
    if (std::ranges::find(skipped_calls, name) != skipped_calls.end()) return add(UnpickledValue(Kind::none));
    refuse_pickle(concat("it calls ", name, " with arguments that do not build plain data"));
}

std::vector<PtTensor> UnpickledValues::storages() const {
    std::vector<PtTensor> found;
    for (const UnpickledValue& value : values_)
        if (value.kind == Kind::storage) found.push_back(tensors_[static_cast<std::size_t>(value.integer)]);
    return found;
}

void UnpickledValues::spend(std::size_t bytes) {
    if (bytes > budget_) refuse_pickle("its data.pkl holds or repeats more values than any checkpoint does");
    budget_ -= bytes;
}

PtList UnpickledValues::list_below(const UnpickledValue& value, int depth) {
    PtList list;
    spend(sizeof(PtValue) * value.items.size());
    list.reserve(value.items.size());
    for (const ValueIndex item : value.items) list.push_back(tree_below(item, depth + 1));
    return list;
}

PtValue UnpickledValues::dict_below(const UnpickledValue& value, int depth) {
    PtDict dict;
    std::set<PtKey> keys;
    spend((sizeof(PtEntry) + sizeof(PtKey) + 48) * (value.items.size() / 2));  // 48: a node of the set
    dict.reserve(value.items.size() / 2);
    for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
        const UnpickledValue& key = values_[value.items[i]];
        if (key.kind != Kind::text && key.kind != Kind::integer) continue;
        spend(2 * key.text.size());
        PtKey name = key.kind == Kind::text ? PtKey(std::string(key.text)) : PtKey(key.integer);
        if (!keys.insert(name).second) refuse_pickle("its data.pkl is malformed: a dict has a key twice");
        dict.push_back({std::move(name), tree_below(value.items[i + 1], depth + 1)});
    }
    return dict;
}

PtValue UnpickledValues::tree_below(ValueIndex index, int depth) {
    if (depth > deepest) refuse_pickle(concat("its values are nested deeper than ", deepest, " levels, or contain themselves"));
    const UnpickledValue& value = values_[index];
    spend(value.text.size());
    switch (value.kind) {
        case Kind::none:
            return {};
        case Kind::boolean:
            return value.integer != 0;
        case Kind::integer:
            return value.integer;
        case Kind::real:
            return value.real;
        case Kind::text:
            return std::string(value.text);
        case Kind::big_integer:
            return PtBigInteger{std::string(value.text)};
        case Kind::list:
            return list_below(value, depth);
        case Kind::tuple:
            return PtTuple{list_below(value, depth)};
        case Kind::dict:
            return dict_below(value, depth);
        case Kind::tensor: {
            const PtTensor& tensor = tensors_[static_cast<std::size_t>(value.integer)];
            spend(16 * tensor.shape.size() + tensor.storage.size());
            return tensor;
        }
        case Kind::global:
            if (is_dtype_global(value.text)) return {};
            refuse_pickle(concat("it holds the class ", class_name(value.text), " as a value, which is not supported"));
        case Kind::storage:
            refuse_pickle("it holds a storage without a tensor");
    }
    return {};
}

}  // namespace bertpretrain
