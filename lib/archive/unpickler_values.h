#pragma once
// The values that an unpickler has made so far. They refer to each other by index, as Python's objects do by reference.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
    std::int64_t integer = 0;  ///< also a boolean's 0 or 1; a storage's or tensor's index in `tensors`
    double real = 0;
    std::string_view text;          ///< inside the pickle; of a global "module\nname"; of a big integer its bytes
    std::vector<ValueIndex> items;  ///< of a dict: key, value, key, value, ...
};

/// @throws PickleRefusal
[[noreturn]] void refuse_pickle(const std::string& what);

class UnpickledValues {
public:
    using Kind = UnpickledValue::Kind;

    ValueIndex add(UnpickledValue value);
    /// Accounts for memory that a file asks for. @throws PickleRefusal when it is more than any checkpoint needs
    void spend(std::size_t bytes);
    UnpickledValue& operator[](ValueIndex index) { return values_[index]; }
    /// The value when it is of this kind. @throws PickleRefusal saying `what` it should have been
    UnpickledValue& expect(ValueIndex index, Kind kind, std::string_view what);

    /// ('storage', torch.FloatStorage, key, location, elements) -> a storage
    ValueIndex make_storage(ValueIndex persistent_id);
    /// The call `function(*arguments)`, for the few functions that build plain data.
    ValueIndex call(ValueIndex function, ValueIndex arguments);

    /// The tree below a value, shared values copied. @throws PickleRefusal when it is too deep (or contains itself) or too large
    PtValue tree(ValueIndex root) { return tree_below(root, 0); }

private:
    ValueIndex make_tensor(const std::vector<ValueIndex>& arguments);
    std::vector<std::int64_t> integers(ValueIndex tuple, std::string_view what);
    PtValue tree_below(ValueIndex index, int depth);
    PtList list_below(const UnpickledValue& value, int depth);
    PtValue dict_below(const UnpickledValue& value, int depth);

    std::deque<UnpickledValue> values_;  ///< no vectors: growing, they would take twice their size
    std::deque<PtTensor> tensors_;
    std::size_t budget_ = std::size_t{40} << 20;  ///< bytes that may still be taken
};

}  // namespace bertpretrain
