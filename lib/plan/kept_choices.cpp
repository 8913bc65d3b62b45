#include "plan/kept_choices.h"

#include <map>
#include <stdexcept>

#include "core/error.h"

namespace bertpretrain {

nlohmann::json to_json(const MatmulLibraries& libraries) {
    nlohmann::json json = nlohmann::json::object();
    for (const auto& [shape, library] : libraries) json[name_of(shape)] = name_of(library);
    return json;
}

MatmulLibraries read_matmul_libraries(const nlohmann::json& kept) {
    MatmulLibraries libraries;
    if (kept.is_null()) return libraries;
    try {
        for (const auto& [name, library] : kept.items())
            libraries[linear_shape_of(name)] =
                matmul_library_of(library.is_string() ? library.get<std::string>() : library.dump());
    } catch (const std::invalid_argument& error) {
        throw CheckpointError(
            concat("training_state.json: cpu_products: ", error.what(), "\n  do: resume from another step with --resume STEP"));
    }
    return libraries;
}

nlohmann::json kept_matmul(const ComputePlan& compute) {
    const MatmulLibraries& kept = compute.matmul ? *compute.matmul : compute.kept_matmul;
    return kept.empty() ? nlohmann::json(nullptr) : to_json(kept);
}

std::string matmul_text(const MatmulLibraries& libraries) {
    std::map<MatmulLibrary, std::string> shapes_by;
    for (const auto& [shape, library] : libraries) {
        std::string& shapes = shapes_by[library];
        shapes += (shapes.empty() ? "" : ", ") + name_of(shape);
    }
    if (shapes_by.size() == 1) return std::string(name_of(shapes_by.begin()->first));
    std::string text;
    for (const auto& [library, shapes] : shapes_by)
        if (library != MatmulLibrary::onednn) text += concat(text.empty() ? "" : "; ", name_of(library), " for ", shapes);
    return shapes_by.count(MatmulLibrary::onednn) == 0 ? text : "onednn, but " + text;
}

KernelChoice read_kernel_choice(const nlohmann::json& kept) {
    KernelChoice choice;
    if (kept.is_null()) return choice;
    for (const auto& [operation, kernels] : kept.items()) {
        if (!kernels.is_string())
            throw CheckpointError(concat("training_state.json: gpu_kernels: \"", operation, "\" is ", kernels.dump(),
                                         ", expected the name of a set of kernels",
                                         "\n  do: resume from another step with --resume STEP"));
        choice[operation] = kernels.get<std::string>();
    }
    return choice;
}

}  // namespace bertpretrain
