#pragma once
// The element types of tensors in files.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bertpretrain {

enum class DType : std::uint8_t { f32, f16, bf16, f64, i64, i32, i16, i8, u8, boolean };

/// Bytes of one element.
std::size_t dtype_bytes(DType dtype);

/// "float32", as Python prints it behind "torch.".
std::string_view dtype_name(DType dtype);

/// "FloatStorage": the class under which torch.save names the storage.
std::string_view storage_class(DType dtype);
std::optional<DType> dtype_of_storage_class(std::string_view name);

/// "F32": the type's name in safetensors files.
std::string_view safetensors_name(DType dtype);
std::optional<DType> dtype_of_safetensors_name(std::string_view name);

/// One element, wherever it lies, as fp32 (f64 and wide integers are rounded).
float element_as_float(DType dtype, const std::byte* element);

/// `count` elements, `stride` elements apart, as fp32.
void elements_as_float(DType dtype, const std::byte* first, std::int64_t count, std::int64_t stride, float* into);

}  // namespace bertpretrain
