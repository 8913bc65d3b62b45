#pragma once
// The parameter table of BERT.

#include "model/bert/config.h"
#include "model/parameter_table.h"

namespace bertpretrain {

/// post_ln and pre_ln_zero_residual have the names of transformers' BertForPreTraining, pre_ln those of
/// MegatronBertForPreTraining; without next sentences, BertForMaskedLM and MegatronBertForMaskedLM. Stages are those of
/// layered_model.h.
ModelParameters parameters_of(const BertConfig& config);

}  // namespace bertpretrain
