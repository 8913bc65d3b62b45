#pragma once
// The content of a .pt file as plain data: a tree of Python values whose leaves may be tensors. Independent of torch.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "archive/dtype.h"

namespace bertpretrain {

/// A view of a storage. Element [i, j, ...] lies at storage_offset + i * strides[0] + j * strides[1] + ...
struct PtTensor {
    DType dtype = DType::f32;
    std::vector<std::int64_t> shape;    ///< empty: a scalar
    std::vector<std::int64_t> strides;  ///< in elements, one per axis
    std::string storage;                ///< the storage's key in its file; tensors with the same key share their bytes
    std::int64_t storage_elements = 0;  ///< number of elements in the whole storage
    std::int64_t storage_offset = 0;    ///< in elements

    /// Returns a row-major tensor that covers its whole storage.
    static PtTensor whole(DType dtype, std::vector<std::int64_t> shape, std::string storage);

    std::int64_t elements() const;
    /// Whether the elements are contiguous in row-major order.
    bool is_contiguous() const;
};

struct PtValue;
struct PtEntry;
using PtList = std::vector<PtValue>;
using PtDict = std::vector<PtEntry>;  ///< in the file's order
using PtKey = std::variant<std::int64_t, std::string>;

struct PtTuple {
    PtList items;
};

/// An integer beyond 64 bits in little-endian two's complement. It is kept only to be written back unchanged.
struct PtBigInteger {
    std::string bytes;
};

struct PtValue {
    /// std::monostate is Python's None.
    std::variant<std::monostate, bool, std::int64_t, double, std::string, PtList, PtDict, PtTensor, PtTuple, PtBigInteger>
        content;

    // Defined below: the variant needs the complete type PtEntry.
    PtValue();
    PtValue(std::same_as<bool> auto value);
    PtValue(std::int64_t value);
    PtValue(double value);
    PtValue(std::string value);
    PtValue(PtList value);
    PtValue(PtTuple value);
    PtValue(PtBigInteger value);
    PtValue(PtDict value);
    PtValue(PtTensor value);

    /// Each returns the value when it has this type, and null otherwise.
    const std::int64_t* integer() const { return std::get_if<std::int64_t>(&content); }
    const double* real() const { return std::get_if<double>(&content); }
    const std::string* text() const { return std::get_if<std::string>(&content); }
    const PtList* list() const;  ///< of a list or a tuple
    const PtDict* dict() const { return std::get_if<PtDict>(&content); }
    const PtTensor* tensor() const { return std::get_if<PtTensor>(&content); }

    /// Returns the value under a string key, or null when this is not a dict or lacks the key.
    const PtValue* find(std::string_view key) const;
};

struct PtEntry {
    PtKey key;
    PtValue value;
};

inline PtValue::PtValue() = default;
PtValue::PtValue(std::same_as<bool> auto value) : content(value) {}
inline PtValue::PtValue(std::int64_t value) : content(value) {}
inline PtValue::PtValue(double value) : content(value) {}
inline PtValue::PtValue(std::string value) : content(std::move(value)) {}
inline PtValue::PtValue(PtList value) : content(std::move(value)) {}
inline PtValue::PtValue(PtTuple value) : content(std::move(value)) {}
inline PtValue::PtValue(PtBigInteger value) : content(std::move(value)) {}
inline PtValue::PtValue(PtDict value) : content(std::move(value)) {}
inline PtValue::PtValue(PtTensor value) : content(std::move(value)) {}

/// Calls visit(path, tensor) for every tensor of the tree, in order. The path consists of keys and indices joined by ".".
void for_each_tensor(const PtValue& tree, const std::function<void(const std::string& path, const PtTensor& tensor)>& visit);

}  // namespace bertpretrain
