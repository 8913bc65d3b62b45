// SentencePiece models, trained here by the library.

#include <algorithm>
#include <map>
#include <random>

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "support/catch.h"
#include "support/files.h"
#include "tokens/definition/tokenizer_kind.h"
#include "tokens/models/folder_tokenizer.h"
#include "tokens/models/open_tokenizer.h"
#include "tokens/models/vocabulary_casing.h"
#include "tokens/vocabulary/vocabulary_file.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using Catch::Matchers::Contains;

namespace {

const std::string options_with_roles =
    "--pad_id=3 --unk_id=0 --bos_id=2 --eos_id=1 --pad_piece=[PAD] --unk_piece=[UNK] --bos_piece=[CLS] --eos_piece=[SEP] "
    "--control_symbols=[MASK],<more> ";

/// Writes a text and trains a model on it. Returns the model's file.
std::filesystem::path trained_model(const TemporaryFolder& folder, const std::string& options, int size = 120) {
    std::string text;
    for (int i = 0; i < 200; ++i)
        text += "the cats and Dogs of " + std::to_string(i) + " houses walked in caf\u00e9s; they were walking, talking\n";
    write_text(folder / "text", text);
    const std::string arguments =
        "--input=" + (folder / "text").string() + " --model_prefix=" + (folder / "m").string() +
        " --num_threads=1 --minloglevel=2 --hard_vocab_limit=false --vocab_size=" + std::to_string(size) + " " + options;
    const auto status = sentencepiece::SentencePieceTrainer::Train(arguments);
    INFO(status.ToString());
    REQUIRE(status.ok());
    return folder / "m.model";
}

std::shared_ptr<const Tokenizer> opened(const std::filesystem::path& model) { return open_tokenizer(model, false, std::nullopt); }

}  // namespace

TEST_CASE("a SentencePiece model of each type gives the ids of its library, and no id for bytes that are not UTF-8") {
    for (const std::string type : {"unigram", "bpe", "char", "bpe --byte_fallback=true"}) {
        const TemporaryFolder folder;
        const std::filesystem::path file = trained_model(folder, options_with_roles + "--model_type=" + type, 330);
        sentencepiece::SentencePieceProcessor library;
        REQUIRE(library.Load(file.string()).ok());
        const auto tokenizer = opened(file);
        REQUIRE(tokenizer->vocabulary().size() == library.GetPieceSize());
        for (const std::string text :
             {"the dogs  walked", " caf\u00e9 ", "\uff21\ufb01 \u65e5\u672c\U0001F600", "", "\n", "<more>"})
            CHECK(tokenizer->encode(text) == library.EncodeAsIds(text));
        CHECK(tokenizer->encode("the \xFF"
                                "dogs") == library.EncodeAsIds("the dogs"));
    }
}

TEST_CASE("long runs of unknown characters get the ids of the SentencePiece library, wherever known ones stand between them") {
    const std::string options =
        GENERATE("--model_type=unigram", "--model_type=bpe", "--model_type=bpe --byte_fallback=true", "--model_type=char",
                 "--model_type=word", "--model_type=unigram --add_dummy_prefix=false",
                 "--model_type=unigram --treat_whitespace_as_suffix=true", "--model_type=bpe --split_by_whitespace=false",
                 "--model_type=unigram --user_defined_symbols=<0x41>,\u672c");
    CAPTURE(options);
    const TemporaryFolder folder;
    const std::filesystem::path file = trained_model(folder, options_with_roles + options, 330);
    sentencepiece::SentencePieceProcessor library;
    REQUIRE(library.Load(file.string()).ok());
    const auto tokenizer = opened(file);
    const std::vector<std::string> unknown{"?",     "\u65e5", "\u672c", "\U0001F600", "e\u0301", "\uff21", "\u1112\u1161\u11ab",
                                           "\ufdfa"},
        known{" ", "the", "  dogs ", "a", "\u2581", "<0x41>", "<0xE6>"};
    std::mt19937 random(7);
    const auto any_of = [&](const std::vector<std::string>& choices) { return choices[random() % choices.size()]; };
    for (const std::size_t run : {1UL, 50UL, 3000UL, 20000UL})
        for (const bool same : {true, false}) {
            std::string text = any_of(known);
            while (text.size() < 40000) {
                const std::string one = any_of(unknown);
                for (std::size_t i = 0; i < run; ++i) text += same ? one : any_of(unknown);
                text += any_of(known);
            }
            CAPTURE(run, same);
            CHECK(tokenizer->encode(text) == library.EncodeAsIds(text));
        }
}

TEST_CASE("a SentencePiece model encodes a megabyte of unknown characters as one unknown token") {
    const std::string character = GENERATE("?", "\u1112\u1161\u11ab", "\u0301\u0316");  // the normalizer composes or orders some
    CAPTURE(character);
    const TemporaryFolder folder;
    const auto tokenizer = opened(trained_model(folder, options_with_roles));  // the library alone takes minutes
    std::string text;
    while (text.size() < 1 << 20) text += character;
    const std::vector<std::int32_t> ids = tokenizer->encode(text);
    REQUIRE(ids.size() <= 2);
    CHECK(ids.back() == tokenizer->vocabulary().require_specials().specials().unk);
}

TEST_CASE("tokens with a role are found in the text as written, and the text around them is encoded part by part") {
    const TemporaryFolder folder;
    const auto tokenizer = opened(trained_model(folder, options_with_roles));
    const SpecialIds& ids = tokenizer->vocabulary().require_specials().specials();
    CHECK(ids.unk == 0);
    CHECK(ids.sep == 1);
    CHECK(ids.cls == 2);
    CHECK(ids.pad == 3);
    CHECK(tokenizer->vocabulary().token(ids.mask) == "[MASK]");
    std::vector<std::int32_t> expected = tokenizer->encode("the cats");
    expected.push_back(ids.mask);
    for (const std::int32_t id : tokenizer->encode(" walked")) expected.push_back(id);
    CHECK(tokenizer->encode("the cats[MASK] walked") == expected);
}

TEST_CASE("in a SentencePiece model a token continues a word unless it begins with its sign for a space or is special") {
    const TemporaryFolder folder;
    const auto tokenizer = opened(trained_model(folder, options_with_roles));
    const Vocabulary& vocabulary = tokenizer->vocabulary();
    CHECK(vocabulary.marks_word_starts());
    for (const std::string word : {"walked", "caf\u00e9s", "housing"}) {
        const std::vector<std::int32_t> pieces = tokenizer->encode(word);
        CHECK_FALSE(vocabulary.continues_word(pieces[0]));
        CHECK(std::all_of(pieces.begin() + 1, pieces.end(), [&](std::int32_t id) { return vocabulary.continues_word(id); }));
    }
    CHECK_FALSE(vocabulary.continues_word(vocabulary.specials().mask));
    const std::vector<std::int32_t> replacements = vocabulary.replacements();
    CHECK(replacements.size() == static_cast<std::size_t>(vocabulary.size()) - 6);  // five roles and <more>
}

TEST_CASE("a SentencePiece model without a token for a role is refused by one message that says how to train one") {
    const TemporaryFolder folder;
    const auto tokenizer = opened(trained_model(folder, ""));  // as T5's and XLM-R's: <unk>, <s> and </s>
    CHECK_THROWS_AS(tokenizer->vocabulary().require_specials(), ConfigError);
    CHECK_THROWS_WITH(tokenizer->vocabulary().require_specials(),
                      Contains("m.model: has no token for the roles pad (looked for [PAD]") &&
                          Contains("mask (looked for [MASK]") && Contains("do: train the model with them, e.g. spm_train"));
}

TEST_CASE("a SentencePiece model has its own casing and rules, which options may not contradict") {
    const TemporaryFolder folder;
    const std::filesystem::path file = trained_model(folder, options_with_roles);
    CHECK(Vocabulary::read(file).own_casing() == Casing::cased);
    CHECK_THROWS_WITH(open_tokenizer(file, true, std::nullopt), Contains("--cased") && Contains("is a SentencePiece model"));
    CHECK_THROWS_WITH(open_tokenizer(file, false, TokenRules::google), Contains("--rules"));
    const TemporaryFolder lower;
    CHECK(Vocabulary::read(trained_model(lower, options_with_roles + "--normalization_rule_name=nmt_nfkc_cf")).own_casing() ==
          Casing::uncased_with_accents);
}

TEST_CASE("a tokenizer's kind is recognized by its content") {
    const TemporaryFolder folder;
    const std::filesystem::path file = trained_model(folder, options_with_roles);
    CHECK(tokenizer_kind(read_text(file)) == TokenizerKind::sentence_piece);
    CHECK(carried_name(file) == "tokenizer.model");
    CHECK(tokenizer_kind(" {\"a\": 1}") == TokenizerKind::tokenizer_json);
    for (const char* const list : {"[PAD]\n[UNK]\n", "{\n[UNK]\n", "\n[PAD]\n", ""})
        CHECK(tokenizer_kind(list) == TokenizerKind::token_list);
}

TEST_CASE("SentencePieceBackend's settings are obeyed or refused, each by its name") {
    const TemporaryFolder trained;
    const std::filesystem::path model = trained_model(trained, options_with_roles);
    const nlohmann::json complete{{"tokenizer_class", "SentencePieceBackend"},
                                  {"special_tokens_pattern", "cls_sep"},
                                  {"cls_token", "[CLS]"},
                                  {"sep_token", "[SEP]"},
                                  {"mask_token", "[MASK]"},
                                  {"legacy", true},
                                  {"sp_model_kwargs", nlohmann::json::object()}};
    const auto read = [&](const nlohmann::json& changes) {
        const TemporaryFolder folder;
        std::filesystem::copy(model, folder / "tokenizer.model");
        nlohmann::json config = complete;
        config.update(changes);
        for (const auto& [name, value] : changes.items())
            if (value.is_null()) config.erase(name);
        write_text(folder / "tokenizer_config.json", config.dump());
        return read_folder_tokenizer(folder.path()).value();
    };
    CHECK(read(nlohmann::json::object()).definition.roles.cls == "[CLS]");
    const FolderTokenizer other = read({{"cls_token", "<more>"}, {"sep_token", "[CLS]"}});
    CHECK(other.definition.roles.cls == "<more>");
    CHECK(other.definition.roles.sep == "[CLS]");
    for (const auto& [name, value] : std::map<std::string, nlohmann::json>{{"special_tokens_pattern", nullptr},
                                                                           {"cls_token", nullptr},
                                                                           {"sep_token", nullptr},
                                                                           {"legacy", false},
                                                                           {"token_type_ids_include_special_tokens", false},
                                                                           {"sp_model_kwargs", {{"enable_sampling", true}}}}) {
        CAPTURE(name);
        CHECK_THROWS_WITH(read({{name, value}}), Contains("tokenizer_config.json: ") && Contains(name));
    }
}

TEST_CASE("a damaged SentencePiece model is refused or read, at every length and with any byte changed") {
    const TemporaryFolder folder;
    const std::string whole = read_text(trained_model(folder, options_with_roles));
    std::mt19937 draw(1);
    int refused = 0;
    for (int i = 0; i < 300; ++i) {
        std::string content = whole;
        if (i % 2 == 0) content.resize(1 + draw() % whole.size());
        else content[draw() % whole.size()] = static_cast<char>(draw());
        write_text(folder / "damaged.model", content);
        try {
            opened(folder / "damaged.model")->encode("the cats walked");
        } catch (const DataError& error) {
            ++refused;
            CHECK_THAT(error.what(), Contains("damaged.model: "));
        }
    }
    CHECK(refused > 100);
}
