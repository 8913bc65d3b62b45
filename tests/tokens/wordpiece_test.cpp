#include "tokens/models/wordpiece.h"

#include <algorithm>
#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "core/random.h"
#include "core/threads/threads.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/shared_data.h"
#include "tokenizer_support.h"
#include "tokens/training/line_blocks.h"
#include "tokens/unicode/neighbours.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using Ids = std::vector<std::int32_t>;
using Strings = std::vector<std::string>;

namespace {

std::string sha256(const std::string& bytes) {
    const TemporaryFolder folder;
    write_text(folder / "bytes", bytes);
    return run_command("sha256sum < " + (folder / "bytes").string()).out.substr(0, 64);
}

const std::map<TokenRules, std::string> tools{
    {TokenRules::huggingface, "hf"}, {TokenRules::google, "google"}, {TokenRules::nvidia, "nvidia"}};

}  // namespace

TEST_CASE("ids equal each tool's under its rules on all golden rows, real and synthetic", "[system]") {
    NEEDS_SHARED_DATA();
    for (const auto& [rules, tool] : tools) {
        const WordPiece wordpiece(shared_vocabulary("bert-uncased-vocab.txt"), Casing::uncased, rules);
        std::ifstream rows(shared_data() / "tokenizer_cases" / "golden_uncased.jsonl");
        int count = 0;
        for (std::string line; std::getline(rows, line); ++count) {
            const nlohmann::json row = nlohmann::json::parse(line);
            INFO(tool << ": " << row["text"]);
            CHECK(wordpiece.encode(row["text"].get<std::string>()) == row[row.contains(tool) ? tool : "google"].get<Ids>());
        }
        CHECK(count == 685);
    }

    const auto vocabulary = shared_vocabulary("bert-uncased-vocab.txt");
    std::ifstream hashes(shared_data() / "tokenizer_cases" / "stream_hashes.txt");
    std::string text, text_file;
    int tried = 0;
    for (std::string file, tool, word, count, unknown, hash;
         hashes >> file >> tool >> word >> count >> word >> unknown >> word >> hash; ++tried) {
        if (file != text_file) text = read_text(shared_data() / file);
        text_file = file;
        const auto rules = std::ranges::find_if(tools, [&](const auto& entry) { return entry.second == tool; })->first;
        const WordPiece wordpiece(vocabulary, Casing::uncased, rules);
        Ids ids;
        for_each_line(text, [&](std::string_view line) { wordpiece.encode(line, ids); });
        INFO(file << " " << tool);
        CHECK(std::to_string(ids.size()) == count);
        CHECK(std::to_string(std::ranges::count(ids, vocabulary->specials().unk)) == unknown);
        CHECK(sha256({reinterpret_cast<const char*>(ids.data()), 4 * ids.size()}) == hash);
    }
    CHECK(tried == 15);
}

TEST_CASE("tools differ in specials, final sigmas, private characters and the longest word") {
    const auto vocabulary = small_vocabulary({"x", "##x", "[", "]", "mask", "\xCF\x83", "##\xCF\x83", "##\xCF\x82", "##y"});
    const auto pieces = [&](TokenRules rules, const std::string& text) {
        return tokens_of(WordPiece(vocabulary, Casing::uncased, rules), text);
    };
    using enum TokenRules;
    CHECK(pieces(huggingface, "[MASK]x [MASK]") == Strings{"[MASK]", "x", "[MASK]"});
    CHECK(pieces(nvidia, "[MASK]x [MASK]") == Strings{"[", "mask", "]", "x", "[MASK]"});
    CHECK(pieces(google, "[MASK]") == Strings{"[", "mask", "]"});
    const std::string sigmas = "\xCE\xA3\xCE\xA3";
    CHECK(pieces(huggingface, sigmas) == Strings{"\xCF\x83", "##\xCF\x83"});
    CHECK(pieces(google, sigmas + ".") == Strings{"\xCF\x83", "##\xCF\x82", "[UNK]"});
    CHECK(is_final_sigma("a\xCE\xA3.", 1, 3, TokenRules::google));
    for (const std::string cased :
         {"\xE2\x85\xBD", "\xE2\x93\x90", "\xC2\xAA", "\xF0\x9F\x84\xB0"})  // a Roman numeral, letters in circles, ...
        CHECK_FALSE(is_final_sigma("a\xCE\xA3" + cased, 1, 3, TokenRules::google));
    CHECK(pieces(nvidia, sigmas + "y") == Strings{"\xCF\x83", "##\xCF\x83", "##y"});
    CHECK(pieces(google, "x\xEE\x80\x80x") == Strings{"[UNK]"});
    CHECK(pieces(nvidia, "x\xEE\x80\x80x") == Strings{"x", "##x"});
    const std::string longest(200, 'x');
    CHECK(pieces(google, longest).size() == 200);
    CHECK(pieces(google, longest + "x") == Strings{"[UNK]"});
    CHECK(pieces(nvidia, longest) == Strings{"[UNK]"});
}

TEST_CASE("the longest piece is taken, and a remainder without a piece makes the whole word unknown") {
    const WordPiece wordpiece(small_vocabulary({"un", "unwant", "##ed", "##e", "##want", "a", "##\xC3\xA9"}), Casing::cased);
    CHECK(tokens_of(wordpiece, "unwanted") == Strings{"unwant", "##ed"});
    CHECK(tokens_of(wordpiece, "unede") == Strings{"un", "##ed", "##e"});
    CHECK(tokens_of(wordpiece, "unwantedx a") == Strings{"[UNK]", "a"});
    CHECK(tokens_of(wordpiece, "ed") == Strings{"[UNK]"});
    CHECK(tokens_of(wordpiece, "a\xC3\xA9 a\xC3\xA8") == Strings{"a", "##\xC3\xA9", "[UNK]"});
    CHECK(wordpiece.encode("").empty());
    CHECK(wordpiece.encode(" \t\n").empty());
}

TEST_CASE("a word of 100 characters is cut into pieces, one of 101 is unknown") {
    const WordPiece wordpiece(small_vocabulary({"\xC3\xA9", "##\xC3\xA9"}), Casing::cased);
    std::string word;
    for (int i = 0; i < 100; ++i) word += "\xC3\xA9";
    CHECK(wordpiece.encode(word).size() == 100);
    CHECK(tokens_of(wordpiece, word + "\xC3\xA9 " + word.substr(0, 2)) == Strings{"[UNK]", "\xC3\xA9"});
}

TEST_CASE("special tokens are recognised anywhere, exactly as written") {
    const WordPiece wordpiece(small_vocabulary({"x", "y", "[", "]", "mask", "ma", "sk"}), Casing::uncased);
    CHECK(tokens_of(wordpiece, "x[MASK]y") == Strings{"x", "[MASK]", "y"});
    CHECK(tokens_of(wordpiece, "[CLS][SEP] [PAD]") == Strings{"[CLS]", "[SEP]", "[PAD]"});
    CHECK(tokens_of(wordpiece, "[mask][MASK") == Strings{"[", "mask", "]", "[", "mask"});
    CHECK(tokens_of(wordpiece, "[MA[MASK]SK]") == Strings{"[", "ma", "[MASK]", "sk", "]"});
}

TEST_CASE("any bytes give ids of the vocabulary, the same from every thread") {
    const WordPiece wordpiece(small_vocabulary({"a", "##a", "b", "##b", "[", "!", "\xC3\xA9"}), Casing::uncased);
    RandomSequence random(20, Purpose::masking, 0);
    std::vector<std::string> texts(2000);
    for (std::string& text : texts) {
        text.resize(random.below(64));
        // Half of the bytes come from a few values, so that valid sequences, marks and special tokens occur.
        const std::string frequent = "ab [MASK]!\xCC\x81\xC3\xA9\xE2\x80\xA8";
        for (char& c : text)
            c = random.below(2) == 0 ? static_cast<char>(random.below(256))
                                     : frequent[random.below(static_cast<std::uint32_t>(frequent.size()))];
    }
    std::vector<Ids> ids(texts.size());
    for_each_index(texts.size(), 4, [&](std::size_t i) { ids[i] = wordpiece.encode(texts[i]); });
    bool all_known = true, all_equal = true;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        for (const std::int32_t id : ids[i]) all_known = all_known && id >= 0 && id < wordpiece.vocabulary().size();
        all_equal = all_equal && ids[i] == wordpiece.encode(texts[i]);
    }
    CHECK(all_known);
    CHECK(all_equal);
}
