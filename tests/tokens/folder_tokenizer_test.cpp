// The tokenizer of a model's folder; tests/system/model_folder_sweep.py compares each field with transformers.
#include "tokens/models/folder_tokenizer.h"

#include "core/error.h"
#include "definition_support.h"
#include "support/catch.h"
#include "support/files.h"
#include "tokens/definition/folder_files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using Catch::Matchers::Contains;

namespace {

/// A folder with an uncased vocab.txt of 13 tokens and other files.
class ModelFolder {
public:
    explicit ModelFolder(const std::string& config = R"({"do_lower_case": true})") {
        write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nuber\nüber\nheron\nnew\n##tok\n数\n字\n##字\n");
        write("tokenizer_config.json", config);
    }
    void write(const std::string& name, const std::string& content) const { write_text(folder_ / name, content); }
    std::vector<std::int32_t> ids(const std::string& text) const { return tokenizer()->encode(text); }
    std::shared_ptr<const Tokenizer> tokenizer() const { return open_folder_tokenizer(read()); }
    FolderTokenizer read() const { return read_folder_tokenizer(folder_.path()).value(); }
    const std::filesystem::path& path() const { return folder_.path(); }

private:
    TemporaryFolder folder_;
};

using Ids = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("tokenizer_config.json says what becomes of case, accents and Chinese characters") {
    CHECK(ModelFolder().ids("Über 数字") == Ids{5, 10, 11});
    CHECK(ModelFolder(R"({"do_lower_case": true, "strip_accents": false})").ids("Über") == Ids{6});
    CHECK(ModelFolder(R"({"do_lower_case": false})").ids("Über heron") == Ids{1, 7});
    CHECK(ModelFolder(R"({"do_lower_case": false, "strip_accents": true})").ids("über") == Ids{5});
    CHECK(ModelFolder(R"({"do_lower_case": true, "tokenize_chinese_chars": false})").ids("数字") == Ids{10, 12});
}

TEST_CASE("added tokens get the ids that their files say, which must be those of transformers") {
    const ModelFolder folder;
    CHECK(folder.ids("newtok") == Ids{8, 9});
    folder.write("added_tokens.json", R"({"newtok": 13})");
    CHECK(folder.ids("newtok heron") == Ids{13, 7});
    folder.write("added_tokens.json", R"({"newtok": 20})");
    CHECK_THROWS_WITH(folder.read(),
                      Contains("added_tokens.json: gives the token \"newtok\" the id 20, but transformers uses 13"));
    folder.write("added_tokens.json", R"({"newtok": "13"})");
    CHECK_THROWS_WITH(folder.read(), Contains("the id \"13\", expected an integer"));
    folder.write("added_tokens.json", "[]");
    CHECK_THROWS_WITH(folder.read(), Contains("added_tokens.json: is damaged"));
}

TEST_CASE("length, truncation and roles are read, and what is not supported is refused by its name") {
    const FolderTokenizer found =
        ModelFolder(R"({"do_lower_case": true, "model_max_length": 64, "truncation_side": "left", "mask_token": "heron"})")
            .read();
    CHECK(found.max_length == 64);
    CHECK(found.truncates_left);
    CHECK(found.definition.roles.mask == "heron");
    CHECK_FALSE(ModelFolder(R"({"model_max_length": 1e30})").read().max_length);
    const auto refused = [](const std::string& config, const std::string& name) {
        CHECK_THROWS_WITH(ModelFolder(config).read(), Contains("tokenizer_config.json") && Contains(name));
    };
    refused(R"({"tokenizer_class": "BertJapaneseTokenizer"})", "tokenizer_class is \"BertJapaneseTokenizer\"");
    refused(R"({"padding_side": "left"})", "padding_side is \"left\"");
    refused(R"({"do_lower_case": "yes"})", "do_lower_case is \"yes\", expected true or false");
    refused(R"({"model_max_length": -1})", "model_max_length is -1");
    CHECK_FALSE(read_folder_tokenizer(TemporaryFolder().path()));
}

TEST_CASE("with BertTokenizer, a tokenizer.json gives the tokens, and BERT's steps replace its own, with a remark for each") {
    const ModelFolder folder;
    folder.write("tokenizer.json",
                 R"({"version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": {"type": "Whitespace"}, "post_processor": {"type": "BertProcessing", "cls": ["[CLS]", 2], "sep": ["[SEP]", 3]}, "decoder": null,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                  "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4, "heron": 5, "uber": 6}}})");
    CHECK(folder.ids("Über heron") == Ids{6, 5});
    REQUIRE(folder.read().remarks.size() == 2);
    CHECK_THAT(folder.read().remarks.at(0), Contains("its normalizer is not used"));
    folder.write("tokenizer_config.json", R"({"tokenizer_class": "PreTrainedTokenizerFast"})");
    CHECK(folder.ids("Uber uber heron") == Ids{1, 6, 5});  // as the file says
    CHECK(folder.read().remarks.empty());
}

TEST_CASE("a tokenizer.json of a ModernBERT is read as it stands, regardless of the class that the files name") {
    const std::string definition =
        R"({"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": false},
        "pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder": null,
        "post_processor": {"type": "BertProcessing", "cls": ["[CLS]", 2], "sep": ["[SEP]", 3]},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                  "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4, "heron": 5, "Heron": 6}}})";
    for (const char* config :
         {R"({"tokenizer_class": "BertTokenizer", "do_lower_case": true})", R"({"tokenizer_class": "OtherTokenizer"})", "{}"}) {
        CAPTURE(config);
        const ModelFolder folder(config);
        folder.write("tokenizer.json", definition);
        folder.write("config.json", R"({"model_type": "modernbert"})");
        CHECK(folder.ids("Heron heron") == Ids{6, 5});
        CHECK(folder.read().remarks.empty());
    }
    const ModelFolder folder;
    folder.write("tokenizer.json", definition);
    CHECK(folder.ids("Heron heron") == Ids{5, 5});
}

TEST_CASE("the class that the files name counts before that of the model's type, except for CamemBERT v2") {
    const auto class_of = [](const std::string& model) {
        const ModelFolder folder(R"({"tokenizer_class": "CamembertTokenizer"})");
        folder.write("config.json", model);
        return TokenizerFiles(folder.path()).tokenizer_class();
    };
    CHECK(class_of(R"({"model_type": "roberta"})") == "CamembertTokenizer");
    CHECK(class_of(R"({"model_type": "roberta", "model_name": "camembertv2-base"})") == "RobertaTokenizer");
    CHECK(class_of(R"({"model_type": "bert", "model_name": "camembertv2-base"})") == "CamembertTokenizer");
}

TEST_CASE("with RobertaTokenizer, a tokenizer.json that splits words in another way than the class is refused") {
    nlohmann::json definition = byte_level_definition({{" ", "a"}});
    const auto refusal = [&](const std::string& config) -> std::string {
        const ModelFolder folder(config);
        folder.write("tokenizer.json", definition.dump());
        try {
            folder.read();
        } catch (const DataError& error) { return error.what(); }
        return "";
    };
    const std::string plain = R"({"tokenizer_class": "RobertaTokenizer"})";
    CHECK_THAT(refusal(plain), !Contains("in another way"));
    const std::string spaced = refusal(R"({"tokenizer_class": "RobertaTokenizer", "add_prefix_space": true})");
    CHECK_THAT(spaced, Contains("in another way than RobertaTokenizer") && Contains("add_prefix_space = true"));
    definition["normalizer"] = {{"type", "NFC"}};
    CHECK_THAT(refusal(plain), Contains("in another way than RobertaTokenizer") && Contains("normalizer is null"));
    CHECK_THAT(refusal(R"({"tokenizer_class": "PreTrainedTokenizerFast"})"), !Contains("in another way"));
}

TEST_CASE("text is put into lower case before anything else where sentence-transformers does so") {
    FolderTokenizer cased = ModelFolder(R"({"do_lower_case": false})").read();
    lower_first(cased);
    CHECK(open_folder_tokenizer(cased)->encode("Über HERON") == Ids{6, 7});
}
