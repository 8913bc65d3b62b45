// Weights of other programs, read under this program's parameter names.

#include "checkpoint/import_plan.h"

#include <algorithm>

#include "checkpoint/described_model.h"
#include "checkpoint/example_state.h"
#include "core/error.h"
#include "model/bert/hugging_face.h"
#include "model/bert/parameters.h"
#include "support/as_model.h"
#include "support/files.h"
#include "support/made_once.h"
#include "support/shared_data.h"

namespace bertpretrain {
namespace {

using namespace testing;
namespace fs = std::filesystem;

/// The folder that save_models.py filled; no folder if Python lacks a package.
const fs::path& models() {
    static const fs::path made = made_once("saved_models", [](const fs::path& folder) {
        const CommandResult result =
            run_command("OMP_NUM_THREADS=1 " WARM_PYTHON " tests/checkpoint/save_models.py '" + folder.string() + "'");
        if (result.exit_code != 0) FAIL("save_models.py: " << result.err);
    });
    return made;
}

BertConfig small_bert() {
    BertConfig config;
    config.hidden_size = 16;
    config.num_hidden_layers = 2;
    config.num_attention_heads = 2;
    config.intermediate_size = 32;
    config.vocab_size = 50;
    config.max_position_embeddings = 24;
    return config;
}

ImportPlan plan(const WeightFiles& files, const BertConfig& config = small_bert(), const ImportChoices& choices = {}) {
    return plan_import(files, as_model(config), choices);
}

std::vector<float> read(const WeightFiles& files, const PlannedImport& planned, std::int64_t elements) {
    std::vector<float> values(static_cast<std::size_t>(elements), -7);
    for (std::int64_t first = 0; first < elements; first += 100)  // like ranks, in pieces with arbitrary ends
        read_planned(files, planned, first, std::min<std::int64_t>(100, elements - first), values.data() + first);
    return values;
}

/// Checks that every parameter of the model, read from `path`, equals the values in save_models.py's reference file.
void check_equal(const fs::path& path, const std::string& expected) {
    INFO(path);
    const WeightFiles files(find_weights(path));
    files.verify();
    const ImportPlan found = plan(files);
    CHECK(found.imports.size() == parameters_of(small_bert()).checkpoint_order.size());
    const PtReader truth(models() / expected);
    for (const PlannedImport& import : found.imports) {
        const PtTensor& tensor = *truth.root().find(import.name)->tensor();
        std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
        truth.read(tensor, 0, tensor.elements(), values.data());
        CHECK(read(files, import, tensor.elements()) == values);
    }
}

std::string refusal(const fs::path& path, const BertConfig& config = small_bert(), const ImportChoices& choices = {}) {
    try {
        const WeightFiles files(find_weights(path));
        files.verify();
        plan(files, config, choices);
    } catch (const Error& error) { return error.what(); }
    return "";
}

}  // namespace

TEST_CASE("a model is read bit for bit from every kind of file and folder of other programs", "[system]") {
    for (const char* name :
         {"hf", "hf/model.safetensors", "hf_shards", "hf_shards/model.safetensors.index.json", "hf_bin",
          "hf_bin/pytorch_model.bin", "hf_bin_shards", "tensorflow.bin", "old_hf.bin", "before_1_6.bin", "nvidia",
          "nvidia/ckpt_1600.pt", "double.safetensors", "expected.pt", "parts.pt", "deep_parts.pt", "beside.pt"})
        check_equal(models() / name, "expected.pt");
    check_equal(models() / "half.safetensors", "expected_half.pt");
    check_equal(models() / "deepspeed", "expected_bfloat16.pt");
    check_equal(models() / "deepspeed/3400", "expected_bfloat16.pt");
}

TEST_CASE("a model is read bit for bit from every wrapper of PyTorch, with any prefix and beside other entries", "[system]") {
    for (const char* name : {"compiled.pt", "compiled_data_parallel.pt", "fabric.pt", "fully_sharded.pt",
                             "checkpointed_layers.pt", "compiled_layers.pt", "lightning.pt", "composer.pt", "deep.pt",
                             "tutorial.pt", "average_beside.pt", "numbers_beside.pt", "counter.pt", "prefix.safetensors"})
        check_equal(models() / "wrapped" / name, "expected.pt");
    const WeightFiles lightning(find_weights(models() / "wrapped/lightning.pt"));
    REQUIRE(plan(lightning).remarks.size() == 1);
    CHECK_THAT(plan(lightning).remarks.front(), Says("its names begin with \"model.\", which is left out"));
    CHECK(WeightFiles(find_weights(models() / "wrapped/composer.pt")).section() == "state.model");
}

TEST_CASE("files of several models and of other kinds of models are refused, without advice that cannot help", "[system]") {
    CHECK_THAT(refusal(models() / "two.pt"), Says("names begin with \"query.\", \"document.\"") && Says("of one bert model"));
    CHECK_THAT(refusal(models() / "two_dicts.pt"), Says("several models, under net_a and net_b") && Says("save the one"));
    CHECK_THAT(refusal(models() / "electra.pt"), Says("begin with \"electra.\", those of another kind of model"));
    CHECK_THAT(refusal(models() / "no_words.pt"), Says("contains no dict of tensors") && Says("\"decoder\""));
    for (const char* name : {"two.pt", "electra.pt", "other.safetensors"}) {
        const std::string message = refusal(models() / name, small_bert(), {.missing_allowed = true, .unexpected_allowed = true});
        CHECK_THAT(message,
                   Says("none of its tensors is a parameter of this model") && !Says("init_missing") && !Says("init_unexp"));
    }
    CHECK_THAT(refusal(models() / "classifier.bin"), !Says("init_missing"));
}

TEST_CASE("what cannot be weights is refused by the tensor's name", "[system]") {
    const auto refusal_when_read = [](const std::string& name) -> std::string {
        const WeightFiles files(find_weights(models() / name));
        try {
            for (const PlannedImport& import : plan(files).imports) read(files, import, import.elements);
        } catch (const CheckpointError& error) { return error.what(); }
        return "";
    };
    CHECK_THAT(refusal_when_read("nan.pt"), Says("\"bert.embeddings.LayerNorm.bias\": element 3 is NaN") && Says("nan.pt"));
    CHECK_THAT(refusal_when_read("infinite.pt"), Says("\"bert.embeddings.LayerNorm.bias\": element 3 is infinite"));
    CHECK_THAT(refusal_when_read("beyond_fp32.pt"), Says("element 3 is infinite in float32"));
    CHECK_THAT(refusal_when_read("tied_nan.pt"), Says("element 2 is NaN") && !Says("untied"));
    CHECK(refusal_when_read("expected.pt").empty());
    CHECK_THAT(refusal_when_read("int8.pt"), Says("\"bert.pooler.dense.weight\" is int8, expected floating point"));
}

TEST_CASE("tensors that are converted, padded, truncated or repeated are reported", "[system]") {
    const WeightFiles half(find_weights(models() / "half.safetensors"));
    CHECK(plan(half).remarks.size() == 1);
    CHECK_THAT(plan(half).remarks.front(), Says("are float16 and are converted to float32"));
    const WeightFiles files(find_weights(models() / "hf"));
    BertConfig config = small_bert();
    config.vocab_size = 56;
    config.max_position_embeddings = 60;
    const ImportPlan larger = plan(files, config);
    REQUIRE(larger.remarks.size() == 3);
    CHECK_THAT(larger.remarks[0], Says("word_embeddings.weight: 50 rows, expected 56: the other 6 keep their initial values"));
    CHECK_THAT(larger.remarks[1], Says("position_embeddings.weight: 24 rows, expected 60: they are repeated"));
    const auto words = read(files, larger.imports[0], 56 * 16), positions = read(files, larger.imports[1], 60 * 16);
    CHECK(std::count(words.begin() + 50 * 16, words.end(), -7.0F) == 6 * 16);
    CHECK(std::count(words.begin(), words.end(), -7.0F) == 6 * 16);
    CHECK(std::equal(positions.begin(), positions.begin() + 36 * 16, positions.begin() + 24 * 16));
    config.vocab_size = 48;
    config.max_position_embeddings = 8;
    const ImportPlan smaller = plan(files, config);
    CHECK_THAT(smaller.remarks[1], Says("24 rows, expected 8: the first 8 are used"));
    CHECK(read(files, smaller.imports[1], 8 * 16) == std::vector<float>(positions.begin(), positions.begin() + 8 * 16));
}

TEST_CASE("an encoder without config.json whose positions may be RoBERTa's, two rows further on, is refused", "[system]") {
    const TemporaryFolder folder;
    fs::copy(models() / "encoder", folder / "alone", fs::copy_options::recursive);
    fs::remove(folder / "alone/config.json");
    BertConfig config = small_bert();
    const ImportChoices choices{.missing_allowed = true};
    CHECK(refusal(folder / "alone", config, choices).empty());
    config.max_position_embeddings = 22;  // the file has 24
    CHECK_THAT(refusal(folder / "alone", config, choices),
               Says("has 24 rows, this model 22") && Says("roberta") && Says("do: put the model's config.json"));
    CHECK(refusal(models() / "encoder", config, choices).empty());
}

TEST_CASE("heads begin at random where the class that wrote the files has none, and are missing where it has them", "[system]") {
    CHECK(refusal(models() / "encoder").empty());
    const WeightFiles files(find_weights(models() / "encoder"));
    const ImportPlan found = plan(files);
    CHECK(found.initial.size() == 7);
    CHECK(found.imports.size() + 7 == parameters_of(small_bert()).checkpoint_order.size());

    const TemporaryFolder folder;
    const fs::path other = folder / "other";
    fs::copy(models() / "encoder", other);
    auto config = nlohmann::json::parse(read_text(other / "config.json"));
    const auto refused_for = [&](const nlohmann::json& classes) {
        config["architectures"] = classes;
        write_text(other / "config.json", config.dump());
        return refusal(other);
    };
    CHECK_THAT(refused_for({"BertForPreTraining"}), Says("missing:    \"cls.predictions.bias\"") &&
                                                        Says("missing:    \"cls.seq_relationship.weight\"") &&
                                                        Says("init_missing"));
    const std::string of_masked_words = refused_for({"BertForMaskedLM"});
    CHECK_THAT(of_masked_words, Says("missing:    \"cls.predictions.bias\"") && !Says("seq_relationship"));
    CHECK_THAT(refused_for({"BertModel", "BertForMaskedLM"}), Says("missing:    \"cls.predictions.bias\""));
    CHECK_THAT(refused_for(nullptr), Says("missing:    \"cls.predictions.bias\""));
    CHECK(plan(WeightFiles(find_weights(other)), small_bert(), {.missing_allowed = true}).initial.size() == 7);
}

TEST_CASE("tensors that the model lacks are refused, unless unexpected ones are allowed", "[system]") {
    CHECK_THAT(refusal(models() / "classifier.bin"), Says("unexpected: \"classifier.weight\"") && Says("init_unexpected"));
    const WeightFiles files(find_weights(models() / "classifier.bin"));
    CHECK(plan(files, small_bert(), {.unexpected_allowed = true}).ignored == std::vector<std::string>{"classifier.weight"});
}

TEST_CASE("nineteen wrong files are refused with the reason", "[system]") {
    const auto refused = [](const std::string& name, const std::string& why) {
        INFO(name);
        CHECK_THAT(refusal(models() / name), Says(name.substr(0, name.find('/'))) && Says(why));
    };
    refused("none.pt", "there is no such file or folder");
    refused("untied.bin", "untied:     \"bert.embeddings.word_embeddings.weight\" and \"cls.predictions.decoder.weight\" differ");
    refused("no_model.pt", "it has \"optimizer\", \"epoch\"");
    refused("list.pt", "contains no dict of tensors");
    refused("tensor.pt", "contains no dict of tensors");
    refused("object.pt", "transformers.models.bert.modeling_bert.BertForPreTraining");
    refused("nvidia/ckpt_9.pt", "contains no dict of tensors");
    refused("other.safetensors", "unexpected: \"a\"");
    refused("cut.safetensors", "reaches beyond the file");
    refused("long.safetensors", "its tensors take");
    refused("header.safetensors", "a header of 1000000000000000 bytes");
    refused("cut.bin", "no zip directory");
    refused("empty.pt", "is empty");
    refused("hf_shards/climbing.index.json", "names the file \"../hf/model.safetensors\"");
    refused("hf_shards/lacking.index.json", "is in ");
    refused("hf_shards/promising.index.json", "tensor \"x\" is listed, but is not in");
    refused("hf_shards/absent.index.json", "none.safetensors: cannot be opened");
    refused("hf/config.json", "is JSON, expected a .pt file");
    refused("parallel", "split by model parallelism");
    BertConfig config = small_bert();
    config.hidden_size = 32;
    CHECK_THAT(refusal(models() / "hf", config),
               Says("misshapen:  \"bert.embeddings.word_embeddings.weight\" is [50, 16], expected [50, 32]"));
    config = small_bert();
    config.num_hidden_layers = 3;
    CHECK_THAT(refusal(models() / "hf", config), Says("missing:    \"bert.encoder.layer.2.attention.self.query.weight\""));
    config.num_hidden_layers = 1;
    CHECK_THAT(refusal(models() / "hf", config), Says("unexpected: \"bert.encoder.layer.1.attention.self.query.weight\""));
    config = small_bert();
    config.vocab_size = 50 + vocabulary_padding;
    CHECK_THAT(refusal(models() / "hf", config), Says("misshapen:  \"bert.embeddings.word_embeddings.weight\""));
    const TemporaryFolder empty;
    CHECK_THAT(refusal(empty.path()), Says("no known weights found"));
}

TEST_CASE("settings that differ from those that the weights describe are listed before at most three tensors", "[system]") {
    const ModelConfig described = described_model(models() / "hf/config.json");
    BertConfig config = small_bert();
    config.hidden_size = 32;
    config.num_hidden_layers = 4;
    config.layer_norm_eps = 1e-6;
    config.vocab_size = 56;
    const std::string message = refusal(models() / "hf", config, {.described = described});
    CHECK_THAT(message,
               Says("model.hidden_size: 16 in the file, 32 in this experiment\n  model.num_hidden_layers: 2 in the file, 4") &&
                   Says("... and ") && Says("leave these settings out"));
    CHECK_THAT(message, !Says("layer_norm_eps") && !Says("vocab_size"));
    CHECK(std::ranges::count(message, '\n') < 12);
    config = small_bert();
    config.num_hidden_layers = 3;
    CHECK(plan(WeightFiles(find_weights(models() / "hf")), config, {.missing_allowed = true, .described = described})
              .initial.size() == 16);
}

TEST_CASE("Hugging Face's config determines the shape, and settings that compute something else are refused", "[system]") {
    const ModelConfig described = described_model(models() / "hf/config.json");
    CHECK(described.bert.hidden_size == 16);
    CHECK(described.bert.max_position_embeddings == 24);
    CHECK(described.bert.norm_placement == NormPlacement::post_ln);
    refuse_other_arithmetic(described, as_model(small_bert()), "config.json");
    BertConfig other = small_bert();
    other.num_attention_heads = 4;
    other.hidden_act = HiddenAct::gelu_new;
    CHECK_THROWS_WITH(refuse_other_arithmetic(described, as_model(other), "config.json"),
                      Says("model.num_attention_heads: 2 in the file, 4 in this experiment") && Says("model.hidden_act"));
    CHECK_NOTHROW(refuse_other_arithmetic(described, as_model(other), "config.json", {"num_attention_heads", "hidden_act"}));
    CHECK_THROWS_WITH(refuse_other_arithmetic(described, as_model(other), "config.json", {"hidden_act"}),
                      Says("num_attention_heads") && !Says("hidden_act: "));
    CHECK_THROWS_WITH(refuse_other_arithmetic(described, as_model(other), "config.json", {"hidden_size"}),
                      Says("init_changes names \"hidden_size\"") && Says("num_attention_heads"));
    other.num_hidden_layers = 5;
    CHECK_THROWS_WITH(refuse_other_arithmetic(described, as_model(other), "config.json"),
                      Says("num_attention_heads: 2") && Says("num_hidden_layers: 2 in the file, 5"));
    const TemporaryFolder folder;
    write_text(folder / "config.json", R"({"model_type": "electra", "hidden_size": 16})");
    CHECK_THROWS_WITH(described_model(folder / "config.json"), Says("model_type is \"electra\"") && Says("camembert"));
    write_text(folder / "config.json", R"({"model_type": "bert", "hidden_size": "16"})");
    CHECK_THROWS_WITH(described_model(folder / "config.json"), Says("config.json"));
}

TEST_CASE("real files of the hub are read", "[system]") {
    NEEDS_SHARED_DATA();
    ModelConfig model = described_model(shared_data() / "ckpt/coldfire_tiny_bert/config.json");
    const WeightFiles tiny(find_weights(shared_data() / "ckpt/coldfire_tiny_bert"));
    CHECK(plan(tiny, model.bert, {.missing_allowed = true}).imports.size() == 4 + 2 * 16 + 1);
    model = described_model(shared_data() / "ckpt/camphr_ner_bert/config.json");
    const WeightFiles ner(find_weights(shared_data() / "ckpt/camphr_ner_bert"));
    const ImportPlan found = plan(ner, model.bert, {.missing_allowed = true, .unexpected_allowed = true});
    CHECK(found.imports.size() + found.initial.size() == parameters_of(model).checkpoint_order.size());
    CHECK(found.ignored == std::vector<std::string>{"classifier.weight", "classifier.bias"});
}

TEST_CASE("parameter names of every origin convert to Hugging Face's names", "[system]") {
    const NamingRules& rules = naming_rules(BertConfig());
    for (const char* name : {"bert.pooler.dense.weight", "pooler.dense.weight", "module.bert.pooler.dense_act.weight",
                             "module.module.bert.pooler.dense.weight", "bert.pooler.dense.gamma"})
        CHECK(our_name(rules, name) == "bert.pooler.dense.weight");
    for (const char* name : {"_orig_mod.module.bert.pooler.dense.weight", "bert._fsdp_wrapped_module.pooler.dense.weight",
                             "_forward_module.bert.pooler._checkpoint_wrapped_module.dense.weight"})
        CHECK(our_name(rules, name) == "bert.pooler.dense.weight");
    CHECK(our_name(rules, "a.bert.pooler.dense.weight", {"a.", true}) == "bert.pooler.dense.weight");
    CHECK(our_name(rules, "a.pooler.dense.weight", {"a.", false}) == "bert.pooler.dense.weight");
    CHECK(our_name(rules, "a.pooler.dense.weight", {"a.", true}) == "pooler.dense.weight");  // of a class around the model
    CHECK(our_name(rules, "something.else") == "something.else");
    CHECK(our_name(rules, "").empty());
    CHECK(nvidia_name(BertConfig(), "bert.pooler.dense.weight") == "bert.pooler.dense_act.weight");
    CHECK(nvidia_name(BertConfig(), "bert.encoder.layer.0.attention.output.dense.bias") ==
          "bert.encoder.layer.0.attention.output.dense.bias");
    for (const ParameterSpec& parameter : parameters_of(small_bert()).checkpoint_order)
        CHECK(our_name(rules, nvidia_name(BertConfig(), parameter.name)) == parameter.name);
}

}  // namespace bertpretrain
