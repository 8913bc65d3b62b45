#include "checkpoint/tiled_import.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "core/error.h"

namespace bertpretrain {
namespace {

/// The number of a layer in a parameter's name, the only part of a name that is a number.
struct LayerInName {
    std::size_t begin = 0, end = 0;  ///< where it stands; equal: the parameter belongs to no layer
    std::int64_t layer = -1;
};

LayerInName layer_in(const std::string& name) {
    for (std::size_t begin = name.find('.'); begin != std::string::npos; begin = name.find('.', begin + 1)) {
        const std::size_t end = std::min(name.find('.', begin + 1), name.size());
        LayerInName found{begin + 1, end};
        const auto [rest, error] = std::from_chars(name.data() + found.begin, name.data() + end, found.layer);
        if (error == std::errc() && rest == name.data() + end) return found;
    }
    return {};
}

std::int64_t layers_of(const std::vector<ParameterSpec>& parameters) {
    std::int64_t last = -1;
    for (const ParameterSpec& parameter : parameters) last = std::max(last, layer_in(parameter.name).layer);
    return last + 1;
}

/// Returns the smaller model's place for each of a larger one's, where both have so many equal blocks.
std::vector<std::int64_t> tiled(std::int64_t larger, std::int64_t smaller, std::int64_t blocks) {
    const std::int64_t wide = larger / blocks, narrow = smaller / blocks, offset = (wide - narrow) / 2;
    std::vector<std::int64_t> places;
    for (std::int64_t block = 0; block < blocks; ++block)
        for (std::int64_t i = 0; i < wide; ++i) places.push_back(block * narrow + ((i - offset) % narrow + narrow) % narrow);
    return places;
}

class Tiling {
public:
    Tiling(ImportPlan of_smaller, const ModelConfig& smaller, const ModelConfig& model)
        : of_smaller_(std::move(of_smaller)),
          wanted_(parameters_of(model).checkpoint_order),
          head_size_(shape_of(model).head_size()),
          smaller_head_size_(shape_of(smaller).head_size()) {
        for (const ParameterSpec& spec : parameters_of(smaller).checkpoint_order) there_.emplace(spec.name, spec);
        for (const PlannedImport& import : of_smaller_.imports) imports_.emplace(import.name, import);
        std::vector<ParameterSpec> specs;
        for (const auto& [name, spec] : there_) specs.push_back(spec);
        layers_ = layers_of(wanted_);
        smaller_layers_ = layers_of(specs);
    }

    ImportPlan run() {
        require(layers_ >= smaller_layers_, "num_hidden_layers", smaller_layers_, layers_);
        if (head_size_ != smaller_head_size_)
            throw ConfigError(concat("initialization.init_smaller = \"tile\": heads of ", head_size_,
                                     " features cannot be made from heads of ", smaller_head_size_,
                                     "\n  do: set model.num_attention_heads so that a head has ", smaller_head_size_,
                                     " features"));
        ImportPlan plan;
        plan.ignored = of_smaller_.ignored;
        plan.remarks = of_smaller_.remarks;
        for (const ParameterSpec& parameter : wanted_) {
            const std::string source = name_in_smaller(parameter.name);
            const auto import = imports_.find(source);
            if (import == imports_.end()) plan.initial.push_back(parameter.name);
            else plan.imports.push_back(tile(parameter, there_.at(source), import->second));
        }
        plan.remarks.push_back(
            concat("tiled: ", smaller_layers_, " layers become ", layers_, ", and smaller matrices are repeated"));
        return plan;
    }

private:
    static void require(bool holds, const std::string& what, std::int64_t there, std::int64_t here) {
        if (!holds)
            throw ConfigError(concat("initialization.init_smaller = \"tile\": ", what, " is ", there, " in the weights and ",
                                     here, " in this model; expected a model that is nowhere smaller than its weights'"));
    }

    std::string name_in_smaller(std::string name) const {
        const LayerInName found = layer_in(name);
        if (found.layer < 0) return name;
        // Halves are rounded to even, as Python's round() does. The last one may be rounded to a layer too many.
        const double nearest = std::nearbyint(static_cast<double>(found.layer * smaller_layers_) / static_cast<double>(layers_));
        const auto layer = std::min(static_cast<std::int64_t>(nearest), smaller_layers_ - 1);
        return name.replace(found.begin, found.end - found.begin, std::to_string(layer));
    }

    PlannedImport tile(const ParameterSpec& parameter, const ParameterSpec& there, PlannedImport import) const {
        for (std::size_t axis = 0; axis < parameter.shape.size(); ++axis)
            require(parameter.shape[axis] >= there.shape[axis] || (axis == 0 && parameter.rows != RowsMeaning::fixed),
                    concat("an axis of ", parameter.name), there.shape[axis], parameter.shape[axis]);
        import.name = parameter.name;
        const bool is_matrix = parameter.shape.size() > 1;
        if (is_matrix && parameter.shape[1] != there.shape[1]) import.columns = tiled(parameter.shape[1], there.shape[1], 1);
        const std::int64_t width = is_matrix ? there.shape[1] : 1, used = import.elements / width;
        std::vector<std::int64_t> rows;
        if (parameter.rows == RowsMeaning::fixed) rows = tiled(parameter.shape[0], used, parameter.row_blocks);
        else
            for (std::int64_t row = 0; row < std::min(used, parameter.shape[0]); ++row) rows.push_back(row);
        for (std::int64_t& row : rows)
            if (!import.rows.empty()) row = import.rows[static_cast<std::size_t>(row)];
        import.elements = std::ssize(rows) * (is_matrix ? parameter.shape[1] : 1);
        import.rows = std::move(rows);
        if (parameter.rows == RowsMeaning::per_token) import.beyond = PlannedImport::Beyond::initial;
        if (parameter.rows == RowsMeaning::repeatable) import.beyond = PlannedImport::Beyond::repeated;
        return import;
    }

    ImportPlan of_smaller_;
    std::map<std::string, PlannedImport> imports_;  ///< of the smaller model, by name
    std::map<std::string, ParameterSpec> there_;    ///< the smaller model's parameters
    std::vector<ParameterSpec> wanted_;
    std::int64_t layers_ = 0, smaller_layers_ = 0, head_size_, smaller_head_size_;
};

}  // namespace

ImportPlan plan_tiled_import(const WeightFiles& files, const ModelConfig& smaller, const ModelConfig& model,
                             const ImportChoices& choices) {
    check(smaller.model_type == model.model_type, "weights of a ", name_of(smaller.model_type), " for a ",
          name_of(model.model_type));
    ModelConfig with_the_same_heads = smaller;
    set_next_sentence(with_the_same_heads, shape_of(model).next_sentence);
    return Tiling(plan_import(files, with_the_same_heads, choices), with_the_same_heads, model).run();
}

}  // namespace bertpretrain
