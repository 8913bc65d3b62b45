#include "archive/dtype.h"

#include <array>
#include <bit>
#include <cstring>

namespace bertpretrain {
namespace {

struct Description {
    std::size_t bytes;
    std::string_view name, storage, safetensors;
};

/// In the order of DType.
constexpr std::array<Description, 10> descriptions{{{4, "float32", "FloatStorage", "F32"},
                                                    {2, "float16", "HalfStorage", "F16"},
                                                    {2, "bfloat16", "BFloat16Storage", "BF16"},
                                                    {8, "float64", "DoubleStorage", "F64"},
                                                    {8, "int64", "LongStorage", "I64"},
                                                    {4, "int32", "IntStorage", "I32"},
                                                    {2, "int16", "ShortStorage", "I16"},
                                                    {1, "int8", "CharStorage", "I8"},
                                                    {1, "uint8", "ByteStorage", "U8"},
                                                    {1, "bool", "BoolStorage", "BOOL"}}};

const Description& describe(DType dtype) { return descriptions[static_cast<std::size_t>(dtype)]; }

template <class T>
T load(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

float float_of_half(std::uint16_t half) {
    const std::uint32_t sign = std::uint32_t{half & 0x8000U} << 16;
    const std::uint32_t exponent = (half >> 10) & 31U, mantissa = half & 1023U;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000U | (mantissa << 13));  // infinity, NaN
    if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
    const float small = static_cast<float>(mantissa) * 0x1p-24F;
    return sign == 0 ? small : -small;
}

}  // namespace

std::size_t dtype_bytes(DType dtype) { return describe(dtype).bytes; }

std::string_view dtype_name(DType dtype) { return describe(dtype).name; }

std::string_view storage_class(DType dtype) { return describe(dtype).storage; }

std::string_view safetensors_name(DType dtype) { return describe(dtype).safetensors; }

namespace {

std::optional<DType> find_by(std::string_view Description::*member, std::string_view name) {
    for (std::size_t i = 0; i < descriptions.size(); ++i)
        if (descriptions[i].*member == name) return static_cast<DType>(i);
    return std::nullopt;
}

}  // namespace

std::optional<DType> dtype_of_storage_class(std::string_view name) { return find_by(&Description::storage, name); }

std::optional<DType> dtype_of_safetensors_name(std::string_view name) { return find_by(&Description::safetensors, name); }

float element_as_float(DType dtype, const std::byte* element) {
    switch (dtype) {
        case DType::f32:
            return load<float>(element);
        case DType::f16:
            return float_of_half(load<std::uint16_t>(element));
        case DType::bf16:
            return std::bit_cast<float>(std::uint32_t{load<std::uint16_t>(element)} << 16);
        case DType::f64:
            return static_cast<float>(load<double>(element));
        case DType::i64:
            return static_cast<float>(load<std::int64_t>(element));
        case DType::i32:
            return static_cast<float>(load<std::int32_t>(element));
        case DType::i16:
            return static_cast<float>(load<std::int16_t>(element));
        case DType::i8:
            return static_cast<float>(load<std::int8_t>(element));
        case DType::u8:
            return static_cast<float>(load<std::uint8_t>(element));
        case DType::boolean:
            return load<std::uint8_t>(element) != 0 ? 1.0F : 0.0F;
    }
    return 0.0F;
}

void elements_as_float(DType dtype, const std::byte* first, std::int64_t count, std::int64_t stride, float* into) {
    const auto number = static_cast<std::size_t>(count), step = static_cast<std::size_t>(stride) * dtype_bytes(dtype);
    if (dtype == DType::f32 && stride == 1) {
        if (number > 0) std::memcpy(into, first, number * sizeof(float));
        return;
    }
    for (std::size_t i = 0; i < number; ++i) into[i] = element_as_float(dtype, first + i * step);
}

}  // namespace bertpretrain
