#pragma once
// Selects the library for bf16 GEMMs on a CPU, separately for each matmul of a Linear layer. Libraries round differently, so a
// run keeps its selection.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace bertpretrain {

enum class MatmulLibrary {
    onednn,  ///< as called by at::mm
    mkl,     ///< cblas_gemm_bf16bf16f32; the result is fp32
    amx,     ///< our own kernel for AMX (cpu/amx/matmul.h)
    vector,  ///< our own kernel for vector instructions (cpu/panel_matmul.h); small matrices are oneDNN's
};

enum class LinearMatmul { forward, input_gradient, weight_gradient };

/// Does not include the number of rows of x, which varies per batch.
struct LinearShape {
    LinearMatmul kind = LinearMatmul::forward;
    std::int64_t outputs = 0, inputs = 0;

    auto operator<=>(const LinearShape&) const = default;
};

/// Shapes that are not in the map use default_matmul_library().
using MatmulLibraries = std::map<LinearShape, MatmulLibrary>;

/// Returns the library's name: "onednn", "mkl", "amx" or "vector".
std::string_view name_of(MatmulLibrary library);
/// Returns the library of a name, or of the name "tiles" that older checkpoints have for amx. @throws std::invalid_argument for
/// any other name
MatmulLibrary matmul_library_of(std::string_view name);

/// Returns a shape's name as checkpoints store it: "weight_gradient 4096x1024".
std::string name_of(const LinearShape& shape);
/// @throws std::invalid_argument if it is not such a name
LinearShape linear_shape_of(std::string_view name);

/// Whether this process can use the library. libtorch may have been built without MKL's bf16 GEMM, and the CPU may lack AMX.
bool has(MatmulLibrary library);
/// Whether this process runs bf16 GEMMs on the CPU without widening to fp32; otherwise there is no library to choose.
bool has_bf16_matmul();

/// Returns the library of matmuls that nothing was selected for: vector where the CPU has bf16 instructions for vectors but no
/// AMX, elsewhere oneDNN.
MatmulLibrary default_matmul_library();
/// Whether another library may be faster here, which is the case with AMX. Without AMX, MKL was half as fast, and oneDNN as fast
/// as ours; runs there need not depend on timings.
bool may_others_be_faster();

/// Selects the libraries for all later matmuls of this process. Libraries that are not available are replaced by the
/// default one.
void use_matmul_libraries(const MatmulLibraries& libraries);

/// Returns the library in use for the shape.
MatmulLibrary matmul_library(const LinearShape& shape);

}  // namespace bertpretrain
