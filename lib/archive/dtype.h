#pragma once
// The element types of tensors in files.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bertpretrain {

enum class DType : std::uint8_t { f32, f16, bf16, f64, i64, i32, i16, i8, u8, boolean };

inline bool is_floating_point(DType dtype) { return dtype <= DType::f64; }

/// Returns the size of one element in bytes.
std::size_t dtype_bytes(DType dtype);

/// Returns PyTorch's name without "torch.", such as "float32".
std::string_view dtype_name(DType dtype);

/// The class that torch.save gives to a storage of this type, such as "FloatStorage".
std::string_view storage_class(DType dtype);
std::optional<DType> dtype_of_storage_class(std::string_view name);

/// The type's name in safetensors files, such as "F32".
std::string_view safetensors_name(DType dtype);
std::optional<DType> dtype_of_safetensors_name(std::string_view name);

/// Converts one element to fp32; f64 and wide integers are rounded. The element may be unaligned.
float element_as_float(DType dtype, const std::byte* element);

/// Converts `count` elements that lie `stride` elements apart to fp32.
void elements_as_float(DType dtype, const std::byte* first, std::int64_t count, std::int64_t stride, float* into);

}  // namespace bertpretrain
