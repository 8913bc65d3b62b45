#include "kernels/matmul_libraries.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <mutex>
#include <stdexcept>

#include "core/error.h"
#include "kernels/cpu/amx/small_matmul.h"
#include "kernels/cpu/instruction_set.h"
#include "kernels/cpu/mkl_matmul.h"
#include "kernels/cpu/panel_kernel.h"

namespace bertpretrain {
namespace {

constexpr std::array<std::string_view, 3> matmul_names{"forward", "input_gradient", "weight_gradient"};
constexpr std::array<std::string_view, 4> library_names{"onednn", "mkl", "amx", "vector"};
constexpr std::string_view old_name_of_amx = "tiles";  // in checkpoints of version 0.9

/// The selection of this process. Several ranks may be threads of one process; all of them select the same libraries.
class LibrariesInUse {
public:
    void set(MatmulLibraries libraries) {
        const std::lock_guard lock(mutex_);
        libraries_ = std::move(libraries);
    }
    MatmulLibrary of(const LinearShape& shape) const {
        const std::lock_guard lock(mutex_);
        const auto found = libraries_.find(shape);
        return found != libraries_.end() && has(found->second) ? found->second : default_matmul_library();
    }

private:
    mutable std::mutex mutex_;
    MatmulLibraries libraries_;
};

LibrariesInUse& in_use() {
    static LibrariesInUse in_use;
    return in_use;
}

}  // namespace

std::string_view name_of(MatmulLibrary library) { return library_names[static_cast<std::size_t>(library)]; }

MatmulLibrary matmul_library_of(std::string_view name) {
    if (name == old_name_of_amx) return MatmulLibrary::amx;
    const auto found = std::find(library_names.begin(), library_names.end(), name);
    if (found == library_names.end())
        throw std::invalid_argument(
            concat("unknown matmul library \"", name, "\": expected \"onednn\", \"mkl\", \"amx\" or \"vector\""));
    return static_cast<MatmulLibrary>(found - library_names.begin());
}

std::string name_of(const LinearShape& shape) {
    return concat(matmul_names.at(static_cast<std::size_t>(shape.kind)), " ", shape.outputs, "x", shape.inputs);
}

LinearShape linear_shape_of(std::string_view name) {
    for (std::size_t i = 0; i < matmul_names.size(); ++i) {
        if (!name.starts_with(matmul_names[i])) continue;
        LinearShape shape{static_cast<LinearMatmul>(i)};
        const char *const begin = name.data() + matmul_names[i].size() + 1, *const end = name.data() + name.size();
        if (begin >= end) break;
        const auto outputs = std::from_chars(begin, end, shape.outputs);
        if (outputs.ec != std::errc() || outputs.ptr == end) break;
        std::from_chars(outputs.ptr + 1, end, shape.inputs);
        if (name_of(shape) == name) return shape;
    }
    throw std::invalid_argument(
        concat("\"", name, "\" is not a matmul of a Linear layer: expected, for example, \"weight_gradient 4096x1024\""));
}

bool has(MatmulLibrary library) {
    if (library == MatmulLibrary::amx) return cpu::has_amx();
    if (library == MatmulLibrary::vector) return cpu::panel_kernel() != nullptr;
    return library == MatmulLibrary::onednn || cpu::has_mkl();
}

bool has_bf16_matmul() { return cpu::library_instruction_set() >= cpu::InstructionSet::avx512_bf16; }

MatmulLibrary default_matmul_library() {
    return cpu::instruction_set() == cpu::InstructionSet::avx512_bf16 ? MatmulLibrary::vector : MatmulLibrary::onednn;
}

bool may_others_be_faster() { return cpu::library_instruction_set() >= cpu::InstructionSet::amx; }

void use_matmul_libraries(const MatmulLibraries& libraries) { in_use().set(libraries); }

MatmulLibrary matmul_library(const LinearShape& shape) { return in_use().of(shape); }

}  // namespace bertpretrain
