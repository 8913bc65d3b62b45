#include "kernels/product_libraries.h"

#include <array>
#include <charconv>
#include <mutex>
#include <stdexcept>

#include "core/error.h"
#include "kernels/cpu/instruction_set.h"
#include "kernels/cpu/mkl_products.h"

namespace bertpretrain {
namespace {

constexpr std::array<std::string_view, 3> product_names{"forward", "input_gradient", "weight_gradient"};

/// Several ranks may be threads of one process, where all make the same choice.
class InUse {
public:
    void set(ProductLibraries libraries) {
        const std::lock_guard lock(mutex_);
        libraries_ = std::move(libraries);
    }
    bool is_mkl(const LinearShape& shape) const {
        const std::lock_guard lock(mutex_);
        const auto found = libraries_.find(shape);
        return found != libraries_.end() && found->second == ProductLibrary::mkl;
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

std::string_view name_of(ProductLibrary library) { return library == ProductLibrary::mkl ? "mkl" : "onednn"; }

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

bool has_mkl_products() { return cpu::has_mkl(); }

bool has_bf16_products() { return cpu::library_instruction_set() >= cpu::InstructionSet::avx512_bf16; }

bool may_mkl_be_faster() { return has_mkl_products() && cpu::library_instruction_set() >= cpu::InstructionSet::amx; }

void use_product_libraries(const ProductLibraries& libraries) {
    in_use().set(has_mkl_products() ? libraries : ProductLibraries());
}

bool is_mkl_product(const LinearShape& shape) { return in_use().is_mkl(shape); }

}  // namespace bertpretrain
