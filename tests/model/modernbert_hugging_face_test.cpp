#include <nlohmann/json.hpp>

#include "config/write.h"
#include "core/error.h"
#include "model/modern/modernbert_config.h"
#include "model/small_model.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using nlohmann::json;

namespace {

ModernBertConfig read(const json& changes = json::object()) {
    json file{{"model_type", "modernbert"}, {"num_hidden_layers", 5}, {"hidden_size", 64}, {"num_attention_heads", 4}};
    file.update(changes);
    return from_hugging_face(file, "config.json").modernbert;
}

json rope(double full, double sliding) {
    return {{"rope_parameters",
             {{"full_attention", {{"rope_theta", full}, {"rope_type", "default"}}},
              {"sliding_attention", {{"rope_theta", sliding}, {"rope_type", "default"}}}}}};
}

json kinds(const std::string& letters) {
    json types = json::array();
    for (const char letter : letters) types.push_back(letter == 'F' ? "full_attention" : "sliding_attention");
    return {{"layer_types", types}};
}

}  // namespace

TEST_CASE("ModernBERT's config.json is read in the fields of transformers 4, of 5, and of both") {
    CHECK(read().global_rope_theta == 160000);
    CHECK(read().local_rope_theta == 10000);
    CHECK(read().global_attn_every_n_layers == 3);
    const ModernBertConfig older =
        read({{"global_rope_theta", 5000}, {"local_rope_theta", 700}, {"global_attn_every_n_layers", 2}});
    CHECK(older.global_rope_theta == 5000);
    CHECK(older.local_rope_theta == 700);
    CHECK(older.global_attn_every_n_layers == 2);
    CHECK(read({{"global_rope_theta", 5000}, {"local_rope_theta", nullptr}}).local_rope_theta == 5000);  // as transformers 4
    json newer = rope(5000, 700);
    newer.update(kinds("FSFSF"));
    CHECK(read(newer).global_rope_theta == 5000);
    CHECK(read(newer).local_rope_theta == 700);
    CHECK(read(newer).global_attn_every_n_layers == 2);
    json both = newer;
    both.update({{"global_rope_theta", 5000.0}, {"local_rope_theta", 700}, {"global_attn_every_n_layers", 2}});
    CHECK(read(both).global_rope_theta == 5000);
    CHECK(read(kinds("FFFFF")).global_attn_every_n_layers == 1);
    CHECK(read({{"hidden_activation", "swish"}}).hidden_activation == GateActivation::silu);
    CHECK(read({{"local_attention", 64}}).local_attention == 64);
    CHECK(read({{"local_attention", 64}, {"sliding_window", 8}}).local_attention == 16);  // as transformers 5
    CHECK(read({{"local_attention", 64}, {"sliding_window", nullptr}}).local_attention == 64);
    CHECK(read({{"head_dim", 16}}).hidden_size == 64);
}

TEST_CASE("what a ModernBERT's config.json says and this program does not compute is refused by name") {
    const auto refused = [](const json& changes, const std::string& part) {
        CAPTURE(changes.dump());
        CHECK_THROWS_WITH(read(changes), Catch::Contains("config.json") && Catch::Contains(part));
    };
    refused({{"attention_bias", true}}, "attention_bias is true");
    refused({{"sliding_window", 0}}, "sliding_window is 0");
    refused({{"sliding_window", 2.5}}, "sliding_window is 2.5");
    refused({{"head_dim", 8}}, "head_dim is 8, expected hidden_size / num_attention_heads = 16");
    refused({{"per_layer_config", {{"1", {{"local_attention", 2}}}}}}, "per_layer_config");
    refused({{"attribute_map", {{"hidden_size", "n"}}}}, "attribute_map");
    refused({{"mlp_bias", true}}, "mlp_bias");
    refused({{"norm_bias", true}}, "norm_bias");
    refused({{"decoder_bias", false}}, "decoder_bias");
    refused({{"classifier_activation", "relu"}}, "classifier_activation");
    refused({{"tie_word_embeddings", false}}, "tie_word_embeddings");
    refused({{"embedding_dropout", 0.1}}, "embedding_dropout");
    refused({{"rope_scaling", {{"type", "yarn"}, {"factor", 4}}}}, "rope_scaling");
    refused({{"hidden_activation", "relu"}}, "hidden_activation");
    json yarn = rope(5000, 700);
    yarn["rope_parameters"]["full_attention"]["rope_type"] = "yarn";
    refused(yarn, "rope_parameters.full_attention.rope_type");
    refused({{"rope_parameters", {{"chunked_attention", {{"rope_theta", 1}}}}}}, "chunked_attention");
    json unequal = rope(5000, 700);
    unequal["global_rope_theta"] = 160000;
    refused(unequal, "differ");
    refused(kinds("SFSFS"), "layer_types");
    refused(kinds("FFSFF"), "layer_types");
    refused(kinds("FS"), "2 entries for 5 layers");
    json periods = kinds("FSFSF");
    periods["global_attn_every_n_layers"] = 3;
    refused(periods, "describe different layers");
    CHECK_THROWS_WITH(check_settings(read({{"local_attention", 7}})), Catch::Contains("model.local_attention = 7"));
    CHECK_THROWS_WITH(check_settings(read({{"num_attention_heads", 64}})), Catch::Contains("rotary positions rotate pairs"));
}

TEST_CASE("a ModernBERT's config.json that is written is read as the same settings") {
    ModelConfig model = odd_modernbert();
    model.modernbert.attention_output_dropout = model.modernbert.attention_dropout;
    model.modernbert.global_rope_theta = 12345.5;
    model.modernbert.hidden_activation = GateActivation::gelu_pytorch_tanh;
    const json file = to_hugging_face(model, "ForMaskedLM", 0);
    const ModelConfig again = from_hugging_face(file, "config.json");
    CHECK(again.model_type == ModelType::modernbert);
    CHECK(write_config(again) == write_config(model));
    for (const char* key : {"global_rope_theta", "rope_parameters", "layer_types", "global_attn_every_n_layers"})
        CHECK(file.contains(key));  // transformers 4 and 5 each read their own, and 4 takes its defaults without them
}

TEST_CASE("files of ModernBERT's encoder alone, without the prefix and the head, name the same parameters") {
    const NamingRules& rules = naming_rules(odd_modernbert());
    for (const std::string prefix : {"", "model.", "module.", "0.auto_model."}) {
        const std::vector<std::string> names{prefix + "embeddings.tok_embeddings.weight", prefix + "layers.1.attn.Wo.weight"};
        const std::vector<NamePrefix> found = name_prefixes(rules, names);
        CAPTURE(prefix);
        REQUIRE(found.size() == 1);
        CHECK(our_name(rules, names[0], found.front()) == "model.embeddings.tok_embeddings.weight");
        CHECK(our_name(rules, names[1], found.front()) == "model.layers.1.attn.Wo.weight");
    }
}
