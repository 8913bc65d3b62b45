#pragma once
// The post-processor of a tokenizer.json that puts BERT's special tokens around texts.

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace bertpretrain {

/// A special token as a template names it.
struct TemplateToken {
    std::string text;
    std::int32_t id;
};

/// Returns the template [CLS] A [SEP], and [CLS] A [SEP] B [SEP] for pairs.
nlohmann::ordered_json bert_template(const TemplateToken& cls, const TemplateToken& sep);

}  // namespace bertpretrain
