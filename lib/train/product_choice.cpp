#include "train/product_choice.h"

#include <stdexcept>

#include "core/error.h"
#include "core/log.h"
#include "kernels/product_libraries.h"
#include "operations/measure_products.h"
#include "parallel/together.h"

namespace bertpretrain {
namespace {

nlohmann::json to_json(const ProductLibraries& libraries) {
    nlohmann::json json = nlohmann::json::object();
    for (const auto& [shape, library] : libraries) json[name_of(shape)] = name_of(library);
    return json;
}

ProductLibraries from_json(const nlohmann::json& json) {
    ProductLibraries libraries;
    for (const auto& [name, library] : json.items())
        libraries[linear_shape_of(name)] = library == name_of(ProductLibrary::mkl) ? ProductLibrary::mkl : ProductLibrary::onednn;
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

ProductLibraries all_by(const BertConfig& model, ProductLibrary library) {
    ProductLibraries libraries;
    for (const LinearShape& shape : products_of(model)) libraries[shape] = library;
    return libraries;
}

ProductLibraries decide(const ExperimentConfig& experiment, const nlohmann::json& kept) {
    const std::string& wanted = experiment.training.cpu_products;
    if (wanted == "mkl") return all_by(experiment.model, ProductLibrary::mkl);
    if (wanted == "measured" && has_mkl_products() && !kept.is_null()) return from_json(kept);
    if (wanted == "onednn" || !may_mkl_be_faster()) return all_by(experiment.model, ProductLibrary::onednn);
    return measure_products(experiment.model, experiment.batch.pass_size() * experiment.data.sequence_length);
}

bool asks_for_mkl(const nlohmann::json& products) {
    for (const auto& library : products)
        if (library == name_of(ProductLibrary::mkl)) return true;
    return false;
}

}  // namespace

nlohmann::json choose_products(Messenger& ranks, const ExperimentConfig& experiment, bool on_cpu, const nlohmann::json& kept) {
    check_kept(kept);  // on all ranks alike
    const bool matters = on_cpu && experiment.training.precision == "bf16" && has_bf16_products();
    // Rank 0 decides whether it matters too: a fleet of different processors would differ anyhow, but must not hang.
    nlohmann::json decided;
    together(ranks, [&] {
        if (ranks.rank() == 0 && matters) decided = to_json(decide(experiment, kept));
    });
    const auto chosen = nlohmann::json::parse(ranks.text_of_first(decided.dump()));
    if (chosen.is_null()) return kept;
    if (asks_for_mkl(chosen) && !has_mkl_products())
        log_warning(
            concat("rank ", ranks.rank(), ": this libtorch has no MKL, which rank 0 multiplies with: the last bits differ"));
    use_product_libraries(from_json(chosen));
    return chosen;
}

std::string products_text(const nlohmann::json& products) {
    if (products.is_null()) return "";
    std::string by_mkl;
    std::size_t count = 0;
    for (const auto& [name, library] : products.items()) {
        if (library != name_of(ProductLibrary::mkl)) continue;
        by_mkl += (by_mkl.empty() ? "" : ", ") + name;
        ++count;
    }
    if (count == 0) return "oneDNN";
    return count == products.size() ? "MKL" : "oneDNN, but MKL for " + by_mkl;
}

}  // namespace bertpretrain
