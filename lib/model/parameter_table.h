#pragma once
// The orders of a model's parameters.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/parameter_layout.h"

namespace bertpretrain {

/// A parameter, and the stage of the backward in which its gradient becomes final. Stages count from 0, the heads.
struct StagedParameter {
    ParameterSpec spec;
    std::size_t stage = 0;
};

/// The parameters of one configuration, in the two orders in use.
struct ModelParameters {
    /// The order of the checkpoint: transformers' state_dict. Tied tensors are listed once.
    std::vector<ParameterSpec> checkpoint_order;
    /// The order of the flat buffers: parameters with weight decay in the order in which the backward finishes them, then the
    /// exempt ones.
    std::vector<ParameterSpec> layout_order;
    /// stage_ends[s] parameters of layout_order are final after stage s of the backward; after the last one all are, the exempt
    /// ones too.
    std::vector<std::size_t> stage_ends;
};

/// Collects the rows of an architecture's table, in the order of the checkpoint.
class ParameterRows {
public:
    /// The rows that follow belong to this part, and their gradients become final in this stage.
    void begin(ModelPart part, std::size_t stage);
    /// Adds a row: a matrix with weight decay, or an exempt vector with an fp32 gradient. Its number is its place.
    /// @returns the row, for what else it has; valid until the next call
    ParameterSpec& add(const std::string& name, std::vector<std::int64_t> shape, InitialValues initial);

    std::vector<StagedParameter> rows;

private:
    ModelPart part_ = ModelPart::encoder;
    std::size_t stage_ = 0;
};

/// @param all in the order of the checkpoint @param stages number of stages
ModelParameters in_both_orders(std::vector<StagedParameter> all, std::size_t stages);

}  // namespace bertpretrain
