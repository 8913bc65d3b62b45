// Settings of "model" that an experiment leaves out come from the weights that it starts from.
#include "plan/inherited_model.h"

#include <filesystem>

#include <nlohmann/json.hpp>

#include "config/write.h"
#include "core/error.h"
#include "core/files/files.h"
#include "plan/experiment_config.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/plans.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const json bert_json{
    {"model_type", "bert"},    {"hidden_size", 48},         {"num_hidden_layers", 3},   {"num_attention_heads", 4},
    {"intermediate_size", 96}, {"vocab_size", 203},         {"hidden_act", "gelu_new"}, {"max_position_embeddings", 64},
    {"layer_norm_eps", 1e-5},  {"hidden_dropout_prob", 0.2}};

/// A folder of Hugging Face with weights that are never read here, and an experiment that starts from them.
struct Example {
    TemporaryFolder folder;

    explicit Example(const json& config = bert_json) {
        fs::create_directory(folder / "hf");
        write_text(folder / "hf/model.safetensors", "");
        describe(config);
    }
    void describe(const json& config) const { write_text(folder / "hf/config.json", config.dump()); }
    RequestedExperiment request(const json& model = nullptr, const std::vector<std::string>& overrides = {},
                                std::int64_t length = 32) const {
        json settings{{"data", {{"training_shards", "x"}, {"sequence_length", length}}},
                      {"initialization", {{"init_from", (folder / "hf").string()}}}};
        if (!model.is_null()) settings["model"] = model;
        write_text(folder / "e.json", settings.dump());
        return request_experiment(folder / "e.json", overrides);
    }
};

json all_of(const ModelConfig& model) { return write_config(model); }

std::string origin_of(const RunPlan& plan, const std::string& path) { return std::string(name_of(value_of(plan, path).origin)); }

}  // namespace

TEST_CASE("settings of the model that are not set are those of the weights, and what is set wins") {
    const Example example;
    const RequestedExperiment requested = example.request({{"hidden_dropout_prob", 0.0}}, {"model.initializer_range=0.01"});
    const BertConfig& bert = requested.settings.model.bert;
    CHECK(bert.hidden_size == 48);
    CHECK(bert.num_hidden_layers == 3);
    CHECK((bert.hidden_act == HiddenAct::gelu_new));
    CHECK(bert.layer_norm_eps == 1e-5);
    CHECK(bert.hidden_dropout_prob == 0.0);
    CHECK(bert.initializer_range == 0.01);
    const RunPlan plan = plan_of(requested);
    CHECK(origin_of(plan, "model.hidden_size") == "init_from");
    CHECK(origin_of(plan, "model.hidden_dropout_prob") == "file");
    CHECK(origin_of(plan, "model.initializer_range") == "--set");
}

TEST_CASE("a fresh run that takes dropout 0 from weights of BERT warns and says how to set it; set by the user it is silent") {
    json config = bert_json;
    config.update({{"hidden_dropout_prob", 0.0}, {"attention_probs_dropout_prob", 0.0}});
    const Example example(config);
    const auto warnings = [&](const json& model, const CheckpointFacts* checkpoint = nullptr) {
        std::string text;
        for (const std::string& warning : plan_of(example.request(model), 1, 0, checkpoint).warnings) text += warning + "\n";
        return text;
    };
    CHECK_THAT(warnings(nullptr), Catch::Contains("trains without dropout (model.hidden_dropout_prob = 0, "
                                                  "model.attention_probs_dropout_prob = 0)") &&
                                      Catch::Contains("--set model.hidden_dropout_prob=0.1 --set ") &&
                                      Catch::Contains("hf says so"));
    CHECK_THAT(warnings({{"hidden_dropout_prob", 0.0}}), Catch::Contains("(model.attention_probs_dropout_prob = 0)"));
    CHECK(warnings({{"hidden_dropout_prob", 0.0}, {"attention_probs_dropout_prob", 0.1}}).find("dropout") == std::string::npos);
    CheckpointFacts checkpoint{plan_of(example.request()).settings, {}};
    checkpoint.progress.global_batch_sequences = 16;
    CHECK(warnings(nullptr, &checkpoint).find("dropout") == std::string::npos);
    RequestedExperiment of_run = example.request();
    CHECK_FALSE(of_run.has_model_of_run);
    of_run.has_model_of_run = true;
    CHECK(plan_of(of_run).warnings.empty());
    example.describe({{"model_type", "modernbert"},
                      {"hidden_size", 48},
                      {"num_hidden_layers", 4},
                      {"num_attention_heads", 4},
                      {"intermediate_size", 96},
                      {"max_position_embeddings", 64},
                      {"vocab_size", 200},
                      {"attention_dropout", 0.0}});
    for (const std::string& warning : plan_of(example.request(nullptr, {"data.objective=mlm"})).warnings)
        CHECK(warning.find("dropout") == std::string::npos);
}

TEST_CASE("the weights choose the architecture, except where model_type names another one") {
    const json modern{{"model_type", "modernbert"},    {"hidden_size", 48},     {"num_hidden_layers", 4},
                      {"num_attention_heads", 4},      {"local_attention", 16}, {"intermediate_size", 96},
                      {"max_position_embeddings", 64}, {"vocab_size", 200}};
    const Example example(modern);
    const ModelConfig model = example.request({{"local_rope_theta", 500}}).settings.model;
    CHECK((model.model_type == ModelType::modernbert));
    CHECK(model.modernbert.local_attention == 16);
    CHECK(model.modernbert.local_rope_theta == 500);
    CHECK((all_of(example.request({{"model_type", "bert"}}).settings.model) == all_of(ModelConfig())));
    CHECK_THROWS_WITH(example.request({{"norm_placement", "pre_ln"}}),
                      Catch::Contains("model.norm_placement") && Catch::Contains("this is \"modernbert\""));
}

TEST_CASE("a RoBERTa's positions and token types are those of the BERT that it becomes") {
    json roberta = bert_json;
    roberta.update({{"model_type", "xlm-roberta"},
                    {"hidden_act", "gelu"},
                    {"max_position_embeddings", 66},
                    {"type_vocab_size", 1},
                    {"pad_token_id", 1}});
    const BertConfig bert = Example(roberta).request().settings.model.bert;
    CHECK(bert.max_position_embeddings == 64);
    CHECK(bert.type_vocab_size == 2);
}

TEST_CASE("weights without a description, and a complete section of the model, leave everything as it is") {
    const Example example;
    fs::remove(example.folder / "hf/config.json");
    CHECK((all_of(example.request().settings.model) == all_of(ModelConfig())));
    json whole = all_of(ModelConfig());
    whole.erase("model_type");
    example.describe({{"model_type", "t5"}});
    CHECK((all_of(example.request(whole).settings.model) == all_of(ModelConfig())));
}

TEST_CASE("rows that pad the weights' vocabulary are kept, and another vocabulary has rows of its own") {
    const Example example;
    DataFacts data;
    const auto rows = [&](std::int64_t tokens) {
        data.is_there = tokens > 0;
        data.manifest.reset();
        if (tokens > 0) data.manifest.emplace().vocabulary.size = tokens;
        return resolve(example.request(), Launch{}, MachineFacts{}, data, nullptr).settings.model.bert.vocab_size;
    };
    CHECK(rows(0) == 208);
    data.is_there = true;  // shards without manifest and vocabulary
    CHECK(resolve(example.request(), Launch{}, MachineFacts{}, data, nullptr).settings.model.bert.vocab_size == 208);
    CHECK(rows(203) == 208);
    CHECK(rows(100) == 208);
    CHECK(rows(50) == 56);  // refused when the weights are read: too few
    CHECK(rows(300) == 304);
}

TEST_CASE("weights whose model cannot be read are refused by name, but not where a run resumes") {
    const Example example;
    const RequestedExperiment first = example.request({{"attention_probs_dropout_prob", 0.0}}, {}, 64);
    CheckpointFacts checkpoint{plan_of(first).settings, {}};
    checkpoint.progress.global_batch_sequences = 16;
    const auto resumed = [&] {
        return plan_of(example.request({{"attention_probs_dropout_prob", 0.0}}, {}, 64), 1, 0, &checkpoint).settings;
    };
    json other = bert_json;
    other["num_hidden_layers"] = 5;
    SECTION("another model of the same type") { example.describe(other); }
    SECTION("a model that this program does not have") {
        example.describe({{"model_type", "t5"}});
        CHECK_THROWS_WITH(plan_of(example.request()), Catch::Contains("model_type is \"t5\""));
    }
    SECTION("no folder") {
        fs::remove_all(example.folder / "hf");
        CHECK_THROWS_WITH(plan_of(example.request()), Catch::Contains("hf: there is no such file or folder"));
        CHECK_THROWS_AS(load_experiment(example.folder / "e.json", {}), CheckpointError);
        CHECK(example.request({{"local_rope_theta", 500}}).settings.model.modernbert.local_rope_theta == 500);
    }
    CHECK(compare_configs(resumed(), checkpoint.settings).empty());
    const RunPlan changed = plan_of(example.request({{"num_hidden_layers", 2}}, {}, 64), 1, 0, &checkpoint);
    CHECK(changed.settings.model.bert.num_hidden_layers == 2);  // refused by refuse_changed_settings()
    CHECK(changed.settings.model.bert.attention_probs_dropout_prob == 0.0);
    CHECK(origin_of(changed, "model.hidden_size") == "checkpoint");
}
