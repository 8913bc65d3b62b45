#include "train/matmul_choice.h"

#include <map>
#include <stdexcept>

#include "core/error.h"
#include "core/log.h"
#include "kernels/matmul_libraries.h"
#include "operations/measure_matmul_libraries.h"
#include "parallel/together.h"

namespace bertpretrain {
namespace {

nlohmann::json to_json(const MatmulLibraries& libraries) {
    nlohmann::json json = nlohmann::json::object();
    for (const auto& [shape, library] : libraries) json[name_of(shape)] = name_of(library);
    return json;
}

MatmulLibraries from_json(const nlohmann::json& json) {
    MatmulLibraries libraries;
    for (const auto& [name, library] : json.items())
        libraries[linear_shape_of(name)] = matmul_library_of(library.is_string() ? library.get<std::string>() : library.dump());
    return libraries;
}

/// @throws CheckpointError
void check_kept(const nlohmann::json& kept) {
    try {
        if (!kept.is_null()) from_json(kept);
    } catch (const std::invalid_argument& error) {
        throw CheckpointError(
            concat("training_state.json: cpu_products: ", error.what(), "\n  do: resume from another step with --resume STEP"));
    }
}

MatmulLibraries all_by(const BertConfig& model, MatmulLibrary library) {
    MatmulLibraries libraries;
    for (const LinearShape& shape : matmuls_of(model)) libraries[shape] = library;
    return libraries;
}

MatmulLibraries decide(const ExperimentConfig& experiment, const nlohmann::json& kept) {
    const std::string& wanted = experiment.training.cpu_products;
    if (wanted != "measured") return all_by(experiment.model, matmul_library_of(wanted));
    if (!kept.is_null()) return from_json(kept);
    if (!may_others_be_faster()) return all_by(experiment.model, MatmulLibrary::onednn);
    return measure_matmul_libraries(experiment.model, experiment.batch.pass_size() * experiment.data.sequence_length);
}

/// A library that was chosen and is not to be had here; empty: all are.
std::string lacking(const MatmulLibraries& chosen) {
    for (const auto& [shape, library] : chosen)
        if (!has(library)) return std::string(name_of(library));
    return "";
}

}  // namespace

nlohmann::json choose_matmul_libraries(ControlGroup& ranks, const ExperimentConfig& experiment, bool on_cpu,
                                       const nlohmann::json& kept) {
    check_kept(kept);  // on all ranks alike
    const bool matters = on_cpu && experiment.training.precision == "bf16" && has_bf16_matmul();
    // Rank 0 decides whether it matters too: a fleet of different processors would differ anyhow, but must not hang.
    nlohmann::json decided;
    together(ranks, [&] {
        if (ranks.rank() == 0 && matters) decided = to_json(decide(experiment, kept));
    });
    const auto chosen = nlohmann::json::parse(ranks.text_of_first(decided.dump()));
    if (chosen.is_null()) return kept;
    const MatmulLibraries libraries = from_json(chosen);
    if (const std::string absent = lacking(libraries); !absent.empty())
        log_warning(concat("rank ", ranks.rank(), ": training.cpu_products: \"", absent,
                           "\" is not to be had here, oneDNN multiplies instead: the last bits differ"));
    use_matmul_libraries(libraries);
    return chosen;
}

std::string matmul_text(const nlohmann::json& products) {
    if (products.is_null()) return "";
    std::map<std::string, std::string> shapes_by;
    for (const auto& [shape, library] : products.items()) {
        std::string& shapes = shapes_by[library.get<std::string>()];
        shapes += (shapes.empty() ? "" : ", ") + shape;
    }
    if (shapes_by.size() == 1) return shapes_by.begin()->first;
    std::string text;
    for (const auto& [library, shapes] : shapes_by)
        if (library != name_of(MatmulLibrary::onednn)) text += (text.empty() ? "" : "; ") + library + " for " + shapes;
    return shapes_by.count("onednn") == 0 ? text : "onednn, but " + text;
}

}  // namespace bertpretrain
