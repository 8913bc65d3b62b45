// Folders with the tokenizers of XLM-R and CamemBERT are read as transformers reads them.

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/files.h"
#include "support/made_once.h"
#include "support/skip.h"
#include "tokens/models/folder_tokenizer.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// The folder that unigram_folders.py filled; an empty one if Python lacks a package.
const fs::path& folders() {
    static const fs::path made = made_once("unigram_folders", [](const fs::path& folder) {
        const CommandResult result =
            run_command("env OMP_NUM_THREADS=1 " WARM_PYTHON " tests/system/unigram_folders.py make '" + folder.string() + "'");
        constexpr int package_missing = 77;
        if (result.exit_code != 0 && result.exit_code != package_missing) FAIL("unigram_folders.py: " << result.err);
    });
    return made;
}

std::string refusal(const fs::path& folder) {
    try {
        read_folder_tokenizer(folder);
    } catch (const DataError& error) { return error.what(); }
    return "";
}

}  // namespace

#define NEEDS_FOLDERS() \
    if (fs::is_empty(folders())) SKIP_TEST(skip::no_oracle, "no Python with transformers and sentencepiece")

TEST_CASE("folders of XLM-R and CamemBERT give transformers' ids, roles and number of tokens") {
    NEEDS_FOLDERS();
    const json lines = json::parse(read_text(folders() / "lines.json"));
    int read = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(folders())) {
        if (!fs::exists(entry.path() / "right.json")) continue;
        INFO(entry.path().filename().string());
        const json right = json::parse(read_text(entry.path() / "right.json"));
        const auto tokenizer = open_folder_tokenizer(read_folder_tokenizer(entry.path()).value());
        const SpecialIds& roles = tokenizer->vocabulary().require_specials().specials();
        CHECK(roles.pad == right["pad"]);
        CHECK(roles.mask == right["mask"]);
        CHECK(tokenizer->vocabulary().size() == right["size"]);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            std::vector<std::int32_t> ids{roles.cls};
            tokenizer->encode(lines[i].get<std::string>(), ids);
            ids.push_back(roles.sep);
            INFO(lines[i]);
            CHECK(ids == right["ids"][i].get<std::vector<std::int32_t>>());
        }
        ++read;
    }
    CHECK(read == 38);
}

TEST_CASE("steps of a tokenizer.json that its class does not use are named in a remark, and the usual ones are not") {
    NEEDS_FOLDERS();
    for (const std::string name : {"xlm-roberta_as_saved", "xlm-roberta_earlier", "camembert_as_saved", "camembert_no_template"})
        CHECK(read_folder_tokenizer(folders() / name)->remarks.empty());
    const std::vector<std::string> remarks = read_folder_tokenizer(folders() / "xlm-roberta_converted")->remarks;
    REQUIRE(remarks.size() == 2);
    CHECK_THAT(remarks[0], Catch::Contains("its normalizer, except the table of Precompiled, is not used") &&
                               Catch::Contains("XLMRobertaTokenizer"));
    CHECK_THAT(remarks[1], Catch::Contains("its pre_tokenizer is not used"));
}

TEST_CASE("a folder with a SentencePiece model alone, and one whose tokenizer.json is no Unigram, are refused with advice") {
    NEEDS_FOLDERS();
    for (const std::string name : {"unsaved_xlm-roberta", "unsaved_camembert"})
        CHECK_THAT(refusal(folders() / name), Catch::Contains("sentencepiece.bpe.model") && Catch::Contains("save_pretrained"));
    const TemporaryFolder folder;
    json definition = json::parse(read_text(folders() / "xlm-roberta_as_saved/tokenizer.json"));
    definition["model"]["type"] = "WordPiece";
    write_text(folder / "tokenizer.json", definition.dump());
    write_text(folder / "tokenizer_config.json", R"({"tokenizer_class": "XLMRobertaTokenizer"})");
    CHECK_THAT(refusal(folder.path()), Catch::Contains("tokenizer.json: model.type is \"WordPiece\"") &&
                                           Catch::Contains("XLMRobertaTokenizer, which needs Unigram"));
}
