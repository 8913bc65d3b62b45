// What a tokenizer.json must say to be read.

#include "core/error.h"
#include "definition_support.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

/// Sets the value at a JSON pointer.
struct Change {
    const char* place;
    json value;
    const char* message;
};

void check_refused(const json& definition, const Change& change) {
    json changed = definition;
    changed[json::json_pointer(change.place)] = change.value;
    INFO(change.place << " = " << change.value.dump());
    CHECK_THROWS_WITH(tokenizer_of(changed), Contains("tokenizer.json: ") && Contains(change.message));
    CHECK_THROWS_AS(tokenizer_of(changed), DataError);
}

const json regex_split = {{"type", "Split"}, {"pattern", {{"Regex", "a"}}}, {"behavior", "Isolated"}, {"invert", false}};

}  // namespace

TEST_CASE("a byte-level BPE with a part that is not understood is refused by that part's name") {
    const json definition = byte_level_definition({{"a", "b"}});
    CHECK_NOTHROW(tokenizer_of(definition));
    const Change changes[] = {
        {"/version", "2.0", "version"},
        {"/something", 1, "something"},
        {"/model/type", "Novelty", "supported are WordPiece, BPE, Unigram and WordLevel"},
        {"/model/type", "Unigram", "the type ByteLevel, which this program supports for BPE only"},
        {"/model/dropout", 0.1, "dropout"},
        {"/model/byte_fallback", true, "byte_fallback"},
        {"/model/end_of_word_suffix", "</w>", "end_of_word_suffix"},
        {"/model/novelty", 1, "novelty"},
        {"/model/merges/0", "a b c", "expected two tokens"},
        {"/model/merges/0", "x yz", "\"xyz\", which model.vocab lacks"},
        {"/model/vocab/a", 1, "the same id 1"},
        {"/model/vocab/a", -1, "expected an integer from 0"},
        {"/model/vocab/a", 99'000'000, "the id 99000000, expected an integer from 0 to 10"},
        {"/normalizer",
         {{"type", "Precompiled"}, {"precompiled_charsmap", "?"}},
         "normalizer.precompiled_charsmap: is damaged, expected Base64"},
        {"/normalizer",
         {{"type", "Precompiled"}, {"precompiled_charsmap", "BAAAAAAA"}},
         "normalizer.precompiled_charsmap: is damaged: a table of 4 bytes in 6 bytes"},
        {"/normalizer", {{"type", "Nmt"}}, "the type Nmt"},
        {"/normalizer",
         {{"type", "Replace"}, {"pattern", {{"Regex", "a*"}}}, {"content", ""}},
         "the regular expression a* has an expression that matches an empty text"},
        {"/pre_tokenizer", {{"type", "UnicodeScripts"}}, "the type UnicodeScripts"},
        {"/pre_tokenizer",
         {{"type", "Sequence"}, {"pretokenizers", {definition["pre_tokenizer"], regex_split}}},
         "after ByteLevel"},
        {"/post_processor", {{"type", "Odd"}}, "the type Odd"},
        {"/added_tokens", json::array({added_token("<x>", 300)}), "tokenizers would use 257"},
        {"/added_tokens", json::array({added_token("<x>", 257, {{"lstrip", 1}})}), "added_tokens[0].lstrip"}};
    for (const Change& change : changes) check_refused(definition, change);
}

TEST_CASE("a Unigram with a part that is not understood is refused by that part's name") {
    json definition = unigram_definition({{"<unk>", 0.0}, {"a", -1.0}});
    CHECK_NOTHROW(tokenizer_of(definition));
    const json sign = definition["pre_tokenizer"];
    const Change changes[] = {
        {"/model/unk_id", nullptr, "unk_id"},
        {"/model/unk_id", 2, "unk_id: is 2, expected the id of one of the 2 tokens"},
        {"/model/unk_id", -1, "unk_id: is -1"},
        {"/model/novelty", 1, "novelty"},
        {"/model/vocab", json::array(), "model.vocab: must be an array"},
        {"/model/vocab", json::object({{"a", 1}}), "model.vocab: must be an array"},
        {"/model/vocab/1", {"a"}, "model.vocab: has [\"a\"] at index 1, expected a token and its score"},
        {"/model/vocab/1", {"a", "b"}, "expected a token and its score"},
        {"/model/vocab/1", {"", -1}, "has an empty token, with id 1"},
        {"/model/vocab/1", {"<unk>", -1}, "has \"<unk>\" more than once"},
        {"/normalizer", {{"type", "Nmt"}}, "the type Nmt"},
        {"/normalizer", {{"type", "Strip"}, {"strip_left", 1}, {"strip_right", true}}, "normalizer.strip_left"},
        {"/pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", true}}, "the type ByteLevel, which"},
        {"/pre_tokenizer", {{"type", "Punctuation"}, {"behavior", "Odd"}}, "pre_tokenizer.behavior: is Odd"},
        {"/pre_tokenizer/replacement", "__", "pre_tokenizer.replacement: is \"__\", expected one character"},
        {"/pre_tokenizer/prepend_scheme", "last", "prepend_scheme: is \"last\""},
        {"/pre_tokenizer/add_prefix_space", false, "which contradict each other"},
        {"/pre_tokenizer/novelty", 1, "novelty"}};
    for (const Change& change : changes) check_refused(definition, change);
    definition["normalizer"] = {{"type", "Lowercase"}};
    check_refused(definition, {"/pre_tokenizer/prepend_scheme", "first", "\"first\" without one only"});
}

TEST_CASE("a WordPiece or WordLevel with a part that is not understood is refused by that part's name") {
    json definition = word_piece_definition({"[UNK]", "a"});
    CHECK_NOTHROW(tokenizer_of(definition));
    const Change of_pieces[] = {{"/normalizer/clean_text", false, "normalizer.clean_text"},
                                {"/model/continuing_subword_prefix", "@@", "continuing_subword_prefix"},
                                {"/model/max_input_chars_per_word", 0, "must be at least 1"},
                                {"/model/unk_token", "<unk>", "<unk>"}};
    for (const Change& change : of_pieces) check_refused(definition, change);
    definition["normalizer"] = nullptr;
    check_refused(definition, {"/model/unk_token", "<unk>", "model.unk_token: is \"<unk>\", which model.vocab lacks"});
    definition["model"] = {{"type", "WordLevel"}, {"vocab", {{"[UNK]", 0}}}, {"unk_token", "[UNK]"}};
    CHECK_NOTHROW(tokenizer_of(definition));
    const Change of_words[] = {{"/model/unk_token", "<unk>", "model.unk_token: is \"<unk>\", which model.vocab lacks"},
                               {"/model/merges", json::array(), "has the member \"merges\""},
                               {"/pre_tokenizer", {{"type", "CharDelimiterSplit"}, {"delimiter", "ab"}}, "delimiter"}};
    for (const Change& change : of_words) check_refused(definition, change);
}

TEST_CASE("a BPE of characters with a part that is not understood is refused by that part's name") {
    const json definition = character_definition({{"a", "b"}});
    CHECK_NOTHROW(tokenizer_of(definition));
    const Change changes[] = {{"/model/dropout", 0.1, "dropout"},
                              {"/model/unk_token", "<unk>", "model.unk_token: is \"<unk>\", which model.vocab lacks"},
                              {"/model/continuing_subword_prefix", "\u00e9", "other characters than ASCII's"},
                              {"/model/merges/0", "x yz", "\"yz\", which model.vocab lacks"}};
    for (const Change& change : changes) check_refused(definition, change);
}

TEST_CASE("a regular expression is refused if another engine could understand it in another way") {
    for (const std::string pattern :
         {"a*",     "(a",     "a)",    "[a",      "[]",      "a+?",           "(?<=a)b", "\\bx", "^a",   "a$",   "\\p{Han}+",
          "[a[b]]", "[a&&b]", "(ab)+", "a{1,2}+", "(?i:ss)", "(?i:\xC3\xA9)", "\\k",     "\\p",  "a||b", "(?i)a"}) {
        json definition = byte_level_definition({});
        json split = regex_split;
        split["pattern"]["Regex"] = pattern;
        definition["pre_tokenizer"]["use_regex"] = false;
        definition["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {split, definition["pre_tokenizer"]}}};
        INFO(pattern);
        CHECK_THROWS_WITH(tokenizer_of(definition), Contains("tokenizer.json: the regular expression"));
    }
}

TEST_CASE("the roles of tokens come from the post-processor, and otherwise from their usual names") {
    json definition = byte_level_definition({});
    definition["added_tokens"] = {added_token("<pad>", 256), added_token("[MASK]", 257), added_token("<a>", 258),
                                  added_token("<b>", 259)};
    definition["post_processor"] = {{"type", "TemplateProcessing"},
                                    {"single",
                                     {{{"SpecialToken", {{"id", "<a>"}, {"type_id", 0}}}},
                                      {{"Sequence", {{"id", "A"}, {"type_id", 0}}}},
                                      {{"SpecialToken", {{"id", "<b>"}, {"type_id", 0}}}}}}};
    const SpecialIds ids = tokenizer_of(definition)->vocabulary().specials();
    CHECK(ids.pad == 256);
    CHECK(ids.mask == 257);
    CHECK(ids.cls == 258);
    CHECK(ids.sep == 259);
    CHECK(ids.unk == SpecialIds::none);
    definition["post_processor"] = {{"type", "RobertaProcessing"}, {"sep", {"<b>", 259}}, {"cls", {"<a>", 258}}};
    CHECK(tokenizer_of(definition)->vocabulary().specials().cls == 258);
}
