#include "inference/sentence_settings.h"

#include "core/error.h"
#include "support/catch.h"
#include "support/contains.h"
#include "support/files.h"

using namespace bertpretrain;
using testing::contains;
using namespace bertpretrain::testing;

namespace {

constexpr const char* modules =
    R"([{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])";

/// A folder as sentence-transformers saves it, without weights.
void write_folder(const std::filesystem::path& folder, const std::string& list, const std::string& pooling) {
    std::filesystem::create_directories(folder / "1_Pooling");
    write_text(folder / "modules.json", list);
    write_text(folder / "sentence_bert_config.json", R"({"max_seq_length": 256, "do_lower_case": false})");
    write_text(folder / "1_Pooling/config.json", pooling);
}

}  // namespace

TEST_CASE("the settings of a sentence-transformers folder are read") {
    const TemporaryFolder folder;
    CHECK_FALSE(read_sentence_settings(folder.path()));
    write_folder(folder.path(), modules, R"({"word_embedding_dimension": 384, "pooling_mode_cls_token": false,
                                             "pooling_mode_mean_tokens": true, "include_prompt": true})");
    const auto settings = read_sentence_settings(folder.path());
    REQUIRE(settings);
    CHECK(settings->max_length == 256);
    CHECK(settings->pooling == "mean");
    CHECK(settings->normalizes);
    write_folder(folder.path(), R"([{"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])",
                 R"({"pooling_mode_cls_token": true})");
    std::filesystem::remove(folder / "sentence_bert_config.json");
    const auto other = read_sentence_settings(folder.path());
    CHECK(other->pooling == "cls");
    CHECK_FALSE(other->normalizes);
    CHECK_FALSE(other->max_length);
}

TEST_CASE("what embed cannot apply is named") {
    const TemporaryFolder folder;
    write_folder(folder.path(), modules, R"({"pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": true})");
    CHECK(contains(read_sentence_settings(folder.path())->pooling, "pooling_mode_max_tokens"));
    write_folder(folder.path(), R"([{"path": "2_Dense", "type": "sentence_transformers.models.Dense"}])", "{}");
    try {
        read_sentence_settings(folder.path());
        FAIL("a dense module was accepted");
    } catch (const ConfigError& error) { CHECK(contains(error.what(), "the module sentence_transformers.models.Dense")); }
}

TEST_CASE("lower-casing, the default prompt and its refusals are read from the files of sentence-transformers") {
    const TemporaryFolder folder;
    write_folder(folder.path(), modules, R"({"pooling_mode_mean_tokens": true})");
    write_text(folder / "sentence_bert_config.json", R"({"do_lower_case": true})");
    write_text(folder / "config_sentence_transformers.json",
               R"({"prompts": {"query": "find: "}, "default_prompt_name": "query", "unknown": 1})");
    const auto settings = read_sentence_settings(folder.path());
    CHECK(settings->lowers_first);
    CHECK(settings->prompt == "find: ");
    write_text(folder / "1_Pooling/config.json", R"({"pooling_mode_mean_tokens": true, "include_prompt": false})");
    CHECK_THROWS_WITH(read_sentence_settings(folder.path()), Catch::Contains("include_prompt"));
    write_text(folder / "1_Pooling/config.json", R"({"pooling_mode_mean_tokens": true, "pooling_of_tomorrow": 2})");
    CHECK_THROWS_WITH(read_sentence_settings(folder.path()), Catch::Contains("pooling_of_tomorrow"));
    write_text(folder / "1_Pooling/config.json", "{}");
    write_text(folder / "config_sentence_transformers.json", R"({"prompts": {}, "default_prompt_name": "query"})");
    CHECK_THROWS_WITH(read_sentence_settings(folder.path()), Catch::Contains("default_prompt_name is \"query\""));
    write_text(folder / "config_sentence_transformers.json", R"({"truncate_dim": 64})");
    CHECK_THROWS_WITH(read_sentence_settings(folder.path()), Catch::Contains("truncate_dim is 64"));
}
