#include "kernels/product_libraries.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <mutex>
#include <stdexcept>

#include "core/error.h"
#include "kernels/cpu/instruction_set.h"
#include "kernels/cpu/mkl_products.h"
#include "kernels/cpu/tile_products.h"

namespace bertpretrain {
namespace {

constexpr std::array<std::string_view, 3> product_names{"forward", "input_gradient", "weight_gradient"};
constexpr std::array<std::string_view, 3> library_names{"onednn", "mkl", "tiles"};

/// Several ranks may be threads of one process, where all make the same choice.
class InUse {
public:
    void set(ProductLibraries libraries) {
        const std::lock_guard lock(mutex_);
        libraries_ = std::move(libraries);
    }
    ProductLibrary of(const LinearShape& shape) const {
        const std::lock_guard lock(mutex_);
        const auto found = libraries_.find(shape);
        return found != libraries_.end() && has(found->second) ? found->second : ProductLibrary::onednn;
    }

private:
    mutable std::mutex mutex_;
    ProductLibraries libraries_;
};

InUse& in_use() {
    static InUse in_use;
    return in_use;
}

}  // namespace

std::string_view name_of(ProductLibrary library) { return library_names[static_cast<std::size_t>(library)]; }

ProductLibrary product_library_of(std::string_view name) {
    const auto found = std::find(library_names.begin(), library_names.end(), name);
    if (found == library_names.end()) throw std::invalid_argument(concat("\"", name, "\" multiplies no matrices"));
    return static_cast<ProductLibrary>(found - library_names.begin());
}

std::string name_of(const LinearShape& shape) {
    return concat(product_names.at(static_cast<std::size_t>(shape.product)), " ", shape.outputs, "x", shape.inputs);
}

LinearShape linear_shape_of(std::string_view name) {
    for (std::size_t i = 0; i < product_names.size(); ++i) {
        if (!name.starts_with(product_names[i])) continue;
        LinearShape shape{static_cast<LinearProduct>(i)};
        const char *const begin = name.data() + product_names[i].size() + 1, *const end = name.data() + name.size();
        if (begin >= end) break;
        const auto outputs = std::from_chars(begin, end, shape.outputs);
        if (outputs.ec != std::errc() || outputs.ptr == end) break;
        std::from_chars(outputs.ptr + 1, end, shape.inputs);
        if (name_of(shape) == name) return shape;
    }
    throw std::invalid_argument(concat("\"", name, "\" is no product of a Linear layer"));
}

bool has(ProductLibrary library) {
    if (library == ProductLibrary::tiles) return cpu::has_tiles();
    return library == ProductLibrary::onednn || cpu::has_mkl();
}

bool has_bf16_products() { return cpu::library_instruction_set() >= cpu::InstructionSet::avx512_bf16; }

bool may_others_be_faster() { return cpu::library_instruction_set() >= cpu::InstructionSet::amx; }

void use_product_libraries(const ProductLibraries& libraries) { in_use().set(libraries); }

ProductLibrary product_library(const LinearShape& shape) { return in_use().of(shape); }

}  // namespace bertpretrain
