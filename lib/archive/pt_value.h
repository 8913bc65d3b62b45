#pragma once
// What a .pt file holds, as plain data: a tree of Python values whose leaves may be tensors. No torch here.

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

/// A view of a storage: element [i, j, ...] lies at storage_offset + i * strides[0] + j * strides[1] + ...
struct PtTensor {
    DType dtype = DType::f32;
    std::vector<std::int64_t> shape;    ///< no axes: a single number
    std::vector<std::int64_t> strides;  ///< in elements, one per axis
    std::string storage;                ///< the storage's key in its file; tensors of the same key share their bytes
    std::int64_t storage_elements = 0;  ///< of the whole storage
    std::int64_t storage_offset = 0;    ///< in elements

    /// A row-major tensor that is all of its storage.
    static PtTensor whole(DType dtype, std::vector<std::int64_t> shape, std::string storage);

    std::int64_t elements() const;
    /// Whether its elements lie one after the other in row-major order.
    bool is_contiguous() const;
};

struct PtValue;
struct PtEntry;
using PtList = std::vector<PtValue>;
using PtDict = std::vector<PtEntry>;  ///< in the order of the file
using PtKey = std::variant<std::int64_t, std::string>;

struct PtTuple {
    PtList items;
};

/// An integer beyond 64 bits, in two's complement, least byte first: kept for whoever wrote it.
struct PtBigInteger {
    std::string bytes;
};

struct PtValue {
    /// std::monostate is Python's None.
    std::variant<std::monostate, bool, std::int64_t, double, std::string, PtList, PtDict, PtTensor, PtTuple, PtBigInteger>
        content;

    // Defined below: the variant is complete only when PtEntry is.
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

    /// The value as this type, or null when it is another.
    const std::int64_t* integer() const { return std::get_if<std::int64_t>(&content); }
    const double* real() const { return std::get_if<double>(&content); }
    const std::string* text() const { return std::get_if<std::string>(&content); }
    const PtList* list() const;  ///< of a tuple too
    const PtDict* dict() const { return std::get_if<PtDict>(&content); }
    const PtTensor* tensor() const { return std::get_if<PtTensor>(&content); }

    /// The value under a string key; null when this is no dict or has no such key.
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

/// Calls visit(path, tensor) for every tensor of the tree in order; the path is its keys and indices joined by ".".
void for_each_tensor(const PtValue& tree, const std::function<void(const std::string& path, const PtTensor& tensor)>& visit);

}  // namespace bertpretrain
