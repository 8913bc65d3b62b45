// Shards made with a tokenizer.json.

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/files/sha256.h"
#include "sample_rows.h"
#include "shards/build/build_request.h"
#include "shards/build/shard_builder.h"
#include "shards/check/shard_checker.h"
#include "shards/check/vocabulary_match.h"
#include "shards/dynamic_masking.h"
#include "shards/shard_reader.h"
#include "support/catch.h"
#include "support/files.h"
#include "tokens/definition_support.h"
#include "tokens/models/open_tokenizer.h"
#include "tokens/vocabulary/byte_alphabet.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using nlohmann::json;

namespace {

constexpr std::int32_t cls_id = 264, pad_id = 263, sep_id = 262,
                       mask_id = 261;  // all after the tokens of text, in no usual order

json byte_level_with_roles() {
    json definition = byte_level_definition({{" ", "c"}, {"a", "t"}, {" c", "at"}, {" ", "s"}, {"o", "g"}});
    definition["added_tokens"] = {added_token("<mask>", mask_id), added_token("</s>", sep_id), added_token("<pad>", pad_id),
                                  added_token("<s>", cls_id)};
    return definition;
}

/// 20 articles of three sentences each.
class TextWithTokenizer {
public:
    explicit TextWithTokenizer(const json& definition) {
        std::string text;
        for (int a = 0; a < 20; ++a) text += "The cat " + std::to_string(a) + ".\n\tA dog sat \nIt slept, Zoé.\n\n";
        write_text(folder / "text.txt", text);
        write_text(folder / "given.json", definition.dump());
    }
    ShardBuildSettings settings(const std::string& vocabulary = "given.json") const {
        ShardBuildSettings settings;
        settings.texts = {folder / "text.txt"};
        settings.vocabulary = folder / vocabulary;
        settings.output = folder / "shards";
        settings.samples.sequence_length = 64;
        settings.samples.max_predictions = 10;
        settings.samples.duplicate_factor = 1;
        settings.samples.held_out_fraction = 0;
        settings.shards = 1;
        settings.overwrite = true;
        return settings;
    }
    ShardRows rows(const ShardBuildSettings& settings) const {
        const ShardBuildReport report = build_shards(settings);
        const ShardReader reader(settings.output / report.manifest.shards.front().file);
        return reader.read(0, reader.rows());
    }

    TemporaryFolder folder;
};

ShardBuildSettings without_pairs(ShardBuildSettings settings) {
    settings.samples.objective = "mlm";
    settings.samples.short_seq_prob = 0;
    return settings;
}

std::string text_of(const ShardRows& rows, std::int64_t row, const Vocabulary& vocabulary) {
    std::string text;
    for (std::int64_t s = 0; s < rows.sequence_length; ++s) {
        const auto at = static_cast<std::size_t>(row * rows.sequence_length + s);
        const std::string& token = vocabulary.token(rows.input_ids_RS[at]);
        if (rows.input_mask_RS[at] == 1) text += bytes_of_token(token).value_or(token);
    }
    return text;
}

}  // namespace

TEST_CASE(
    "packed rows of a byte-level tokenizer.json restore the text, with a space between sentences, and are padded by its token") {
    const TextWithTokenizer files(byte_level_with_roles());
    ShardRows rows = files.rows(without_pairs(files.settings()));
    restore_text(rows);
    const Vocabulary vocabulary = Vocabulary::read(files.folder / "given.json");
    std::set<std::string> texts, expected;
    for (int a = 0; a < 20; ++a) expected.insert("<s>The cat " + std::to_string(a) + ". A dog sat It slept, Zoé.</s>");
    for (std::int64_t r = 0; r < rows.rows; ++r) texts.insert(text_of(rows, r, vocabulary));
    CHECK(texts == expected);
    for (std::size_t i = 0; i < rows.input_ids_RS.size(); ++i)
        if (rows.input_mask_RS[i] == 0) REQUIRE(rows.input_ids_RS[i] == pad_id);
}

TEST_CASE("a tokenizer with the shards' tokens that reads text in another way is refused, and so is a changed one beside them") {
    json definition = byte_level_with_roles();
    const TextWithTokenizer files(definition);
    build_shards(files.settings());
    const auto shards = files.folder / "shards", given = files.folder / "given.json", own = shards / "tokenizer.json";
    const auto refusal_of = [&](const std::filesystem::path& file) -> std::string {
        try {
            refuse_other_vocabulary(shards, file);
        } catch (const DataError& error) { return error.what(); }
        return "";
    };
    CHECK(refusal_of(given).empty());
    write_text(given, definition.dump(3));  // another file that says the same
    CHECK(refusal_of(given).empty());
    definition["normalizer"] = {{"type", "Lowercase"}};
    write_text(given, definition.dump());
    CHECK_THAT(refusal_of(given), Catch::Contains("but reads text in another way than tokenizer.json there, such as \""));
    write_text(own, definition.dump());
    CHECK_THAT(refusal_of(own), Catch::Contains("was changed after the shards were made: its SHA-256 is"));
}

TEST_CASE("stored and dynamic masks of a tokenizer.json use its mask token and never put another special token") {
    const TextWithTokenizer files(byte_level_with_roles());
    ShardBuildSettings settings = without_pairs(files.settings());
    settings.samples.duplicate_factor = 40;
    const ShardRows stored = files.rows(settings);
    const Vocabulary vocabulary = Vocabulary::read(files.folder / "given.json");
    const DynamicMasking rules = dynamic_masking(vocabulary, 0.3, true, false, 64, 272, 5);
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(stored.rows));
    for (std::size_t r = 0; r < numbers.size(); ++r) numbers[r] = static_cast<std::int64_t>(r);
    for (const ShardRows& rows : {stored, mask_again(stored, numbers, rules)}) {
        std::int64_t masks = 0, replaced = 0;
        for (std::int64_t r = 0; r < rows.rows; ++r)
            for (std::int64_t p = 0; p < rows.max_predictions; ++p) {
                const auto at = static_cast<std::size_t>(r * rows.max_predictions + p);
                const std::int32_t position = rows.masked_lm_positions_RP[at];
                if (position == 0) break;
                const std::int32_t id = rows.input_ids_RS[static_cast<std::size_t>(r * rows.sequence_length + position)];
                REQUIRE(rows.masked_lm_ids_RP[at] < mask_id);
                REQUIRE(id <= mask_id);
                masks += id == mask_id;
                replaced += id != mask_id && id != rows.masked_lm_ids_RP[at];
            }
        CHECK(masks > 1000);
        CHECK(replaced > 100);
    }
}

TEST_CASE("whole words of a byte-level tokenizer.json begin at a space and after a separator") {
    const TextWithTokenizer files(byte_level_with_roles());
    const Vocabulary vocabulary = Vocabulary::read(files.folder / "given.json");
    const auto id = [&](const std::string& bytes) { return vocabulary.find(token_of_bytes(bytes)).value(); };
    const std::vector<std::int32_t> row = {cls_id, id("a"), id("b"), sep_id, id("d"), id("og"), id(" cat"), id("."), sep_id};
    MaskingSettings settings = masking_settings(vocabulary, 0.2, 2, true);
    std::set<std::vector<std::int32_t>> chosen;
    for (std::uint64_t i = 0; i < 100; ++i) {
        std::vector<std::int32_t> tokens = row;
        StreamRng rng(RandomSequence(1, Purpose::masking, i));
        chosen.insert(mask_tokens(tokens, settings, vocabulary.specials(), vocabulary.size(), rng).positions);
    }
    CHECK(chosen == std::set<std::vector<std::int32_t>>{{1, 2}, {4, 5}, {6, 7}});
}

TEST_CASE("whole words of a BPE with a suffix are those that end with it, as a plain loop over the text finds them") {
    json definition = character_definition({});
    for (const char* token : {"a</w>", "b</w>", "ab", "ab</w>", "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"})
        definition["model"]["vocab"][token] = definition["model"]["vocab"].size();
    definition["model"]["merges"] = {"a b", "a b</w>"};
    definition["model"]["end_of_word_suffix"] = "</w>";
    definition["model"]["unk_token"] = "[UNK]";
    const auto tokenizer = tokenizer_of(definition);
    const Vocabulary& vocabulary = tokenizer->vocabulary().require_specials();
    std::vector<std::int32_t> row{vocabulary.specials().cls};
    std::set<std::vector<std::int32_t>> expected;  // the positions of each word
    RandomSequence random(9, Purpose::document_order, 0);
    for (int w = 0; w < 60; ++w) {
        std::string word;
        for (std::uint32_t i = 0, size = 1 + random.below(4); i < size; ++i) word += static_cast<char>('a' + random.below(2));
        std::vector<std::int32_t> positions;
        for (const std::int32_t id : tokenizer->encode(word)) {
            positions.push_back(static_cast<std::int32_t>(row.size()));
            row.push_back(id);
        }
        expected.insert(positions);
        if (w % 20 == 19) row.push_back(vocabulary.specials().sep);
    }
    CHECK(vocabulary.token(row[1]) != "[UNK]");
    const MaskingSettings settings = masking_settings(vocabulary, 4.0 / static_cast<double>(row.size()), 4, true);
    std::set<std::vector<std::int32_t>> found;
    for (std::uint64_t i = 0; i < 2000; ++i) {
        std::vector<std::int32_t> tokens = row;
        StreamRng rng(RandomSequence(1, Purpose::masking, i));
        const std::vector<std::int32_t> masked =
            mask_tokens(tokens, settings, vocabulary.specials(), vocabulary.size(), rng).positions;
        std::size_t covered = 0;
        for (const std::vector<std::int32_t>& word : expected) {
            const auto count = std::ranges::count_if(word, [&](std::int32_t at) { return std::ranges::count(masked, at) > 0; });
            REQUIRE((count == 0 || count == std::ssize(word)));
            covered += static_cast<std::size_t>(count);
            if (count > 0) found.insert(word);
        }
        REQUIRE(covered == masked.size());
    }
    CHECK(found == expected);
}

TEST_CASE("sentence pairs of a byte-level tokenizer.json are sound, and the folder keeps the file with its SHA-256") {
    const TextWithTokenizer files(byte_level_with_roles());
    const ShardBuildReport report = build_shards(files.settings());
    CHECK(report.manifest.vocabulary.file == "tokenizer.json");
    CHECK(report.manifest.vocabulary.size == 265);
    const std::string content = read_text(files.folder / "given.json");
    CHECK(read_text(files.folder / "shards/tokenizer.json") == content);
    CHECK(read_manifest(files.folder / "shards")->vocabulary.sha256 == hexadecimal(bertpretrain::sha256(content)));
    CHECK(check_shard_folder(files.folder / "shards", std::nullopt, 1).problems.empty());
    write_text(files.folder / "shards/tokenizer.json", content + "\n");
    const auto problems = check_shard_folder(files.folder / "shards", std::nullopt, 1).problems;
    REQUIRE(problems.size() == 1);
    CHECK_THAT(problems[0], Catch::Contains("SHA-256"));
}

TEST_CASE("a WordPiece tokenizer.json gives the text of its list of tokens, and replacing those shards leaves one vocabulary") {
    const std::vector<std::string> tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the",
                                             "cat",   "a",     "dog",   "sat",   ".",      "it"};
    const TextWithTokenizer files(word_piece_definition(tokens));
    std::string list;
    for (const std::string& token : tokens) list += token + "\n";
    write_text(files.folder / "vocab.txt", list);
    ShardRows of_list = files.rows(files.settings("vocab.txt"));
    CHECK(std::filesystem::exists(files.folder / "shards/vocab.txt"));
    ShardRows of_json = files.rows(files.settings());
    CHECK_FALSE(std::filesystem::exists(files.folder / "shards/vocab.txt"));
    restore_text(of_list);
    restore_text(of_json);
    CHECK(same_rows(of_list, of_json));
}

TEST_CASE("a tokenizer.json is refused with a reference script's rules, and where it has no token for a role") {
    json definition = byte_level_with_roles();
    const TextWithTokenizer files(definition);
    SampleSettings samples;
    samples.compatible_with = samples.token_rules = "nvidia";
    CHECK_THROWS_WITH(make_tokenizer(samples, files.folder / "given.json"), Catch::Contains("--compatible-with nvidia"));
    definition["added_tokens"].erase(3);
    write_text(files.folder / "given.json", definition.dump());
    CHECK_THROWS_WITH(build_shards(files.settings()),
                      Catch::Contains("role cls (looked for [CLS], <s>, <|startoftext|>, <cls>)"));
    CHECK_FALSE(std::filesystem::exists(files.folder / "shards"));
}
