#pragma once
#include "model/architecture.h"

namespace bertpretrain::testing {

inline ModelConfig as_model(const BertConfig& config) {
    ModelConfig model;
    model.bert = config;
    return model;
}

}  // namespace bertpretrain::testing
