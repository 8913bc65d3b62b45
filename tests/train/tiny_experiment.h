#pragma once
// The smallest experiment on sample shards.

#include "batches/sample_shards.h"
#include "plan/experiment_config.h"

namespace bertpretrain::testing {

/// Two layers of 64 in fp32 on the CPU, without shards.
inline ExperimentConfig tiny_experiment() {
    ExperimentConfig experiment;
    experiment.model.bert.hidden_size = 64;
    experiment.model.bert.num_hidden_layers = 2;
    experiment.model.bert.num_attention_heads = 4;
    experiment.model.bert.intermediate_size = 96;
    experiment.model.bert.vocab_size = sample_vocabulary;
    experiment.model.bert.max_position_embeddings = experiment.data.sequence_length = sample_length;
    experiment.optimizer.learning_rate = 1e-3;
    experiment.checkpoint.background = false;
    experiment.training.precision = Precision::fp32;
    experiment.training.device = "cpu";
    return experiment;
}

}  // namespace bertpretrain::testing
