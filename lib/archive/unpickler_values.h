#pragma once
// The values that the unpickler has built so far. They refer to each other by index, as Python objects do by reference.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/pickle_refusal.h"
#include "archive/pt_value.h"

namespace bertpretrain {

/// Index of a value in UnpickledValues.
using ValueIndex = std::uint32_t;

struct UnpickledValue {
    enum class Kind : std::uint8_t {
        none,
        boolean,
        integer,
        big_integer,
        real,
        text,
        list,
        tuple,
        dict,
        global,
        storage,
        tensor
    };

    explicit UnpickledValue(Kind which, std::int64_t number = 0) : kind(which), integer(number) {}
    explicit UnpickledValue(double number) : kind(Kind::real), real(number) {}
    UnpickledValue(Kind which, std::string_view words) : kind(which), text(words) {}
    UnpickledValue(Kind which, std::vector<ValueIndex> parts) : kind(which), items(std::move(parts)) {}

    Kind kind;
    std::int64_t integer = 0;  ///< also 0 or 1 for a boolean, and the index in tensors_ for a storage or a tensor
    double real = 0;
    std::string_view text;          ///< a part of the pickle; "module\nname" for a global; the bytes of a big integer
    std::vector<ValueIndex> items;  ///< for a dict: key, value, key, value, ...
};

/// Whether a global is a dtype such as "torch\nfloat32".
bool is_dtype_global(std::string_view global);

class UnpickledValues {
public:
    using Kind = UnpickledValue::Kind;

    ValueIndex add(UnpickledValue value);
    /// Deducts memory that the file makes us allocate. @throws PickleRefusal when the total is more than any checkpoint needs
    void spend(std::size_t bytes);
    UnpickledValue& operator[](ValueIndex index) { return values_[index]; }
    /// Returns the value, which must be of this kind. @throws PickleRefusal with `what`, the value's role, when it is not
    UnpickledValue& expect(ValueIndex index, Kind kind, std::string_view what);

    /// Makes a storage from ('storage', torch.FloatStorage, key, location, elements); before PyTorch 1.6 None follows.
    ValueIndex make_storage(ValueIndex persistent_id);
    /// Returns the result of `function(*arguments)`, for the few functions that build plain data.
    ValueIndex call(ValueIndex function, ValueIndex arguments);

    /// Returns the tree below a value; shared values are copied.
    /// @throws PickleRefusal when the tree is too deep, contains itself or is too large
    PtValue tree(ValueIndex root) { return tree_below(root, 0); }
    std::vector<PtTensor> storages() const;

private:
    ValueIndex make_tensor(const std::vector<ValueIndex>& arguments);
    ValueIndex tensor_of(const std::vector<ValueIndex>& arguments, std::string_view what);
    std::vector<std::int64_t> integers(ValueIndex tuple, std::string_view what);
    PtValue tree_below(ValueIndex index, int depth);
    PtList list_below(const UnpickledValue& value, int depth);
    PtValue dict_below(const UnpickledValue& value, int depth);

    std::deque<UnpickledValue> values_;  ///< deques, because a growing vector needs twice its size
    std::deque<PtTensor> tensors_;
    std::size_t budget_ = std::size_t{40} << 20;  ///< bytes that may still be allocated
};

}  // namespace bertpretrain
