#include "deduplication/document_blocks.h"

#include <algorithm>

#include "core/error.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

std::vector<DocumentBlock> blocks_of(const std::vector<std::filesystem::path>& inputs) {
    TaskPool pool(1);
    DocumentBlocks reader(inputs, pool);
    std::vector<DocumentBlock> blocks;
    for (DocumentBlock block; reader.next(block);) blocks.push_back(block);
    return blocks;
}

}  // namespace

TEST_CASE("blocks are whole documents that add up to the files") {
    const TemporaryFolder folder;
    std::string text;
    for (int i = 0; i < 60'000; ++i) text += "Sentence number " + std::to_string(i) + (i % 7 == 0 ? ".\n \n" : ".\n");
    text += "\n" + std::string(std::size_t{3} << 20, 'a') + "\n\nThe end";
    write_text(folder / "a.txt", text);
    write_text(folder / "b.txt", "Other.\n");
    const std::vector<DocumentBlock> blocks = blocks_of({folder / "a.txt", folder / "b.txt"});
    REQUIRE(blocks.size() > 3);
    std::string all;
    std::uint64_t line = 1;
    for (const DocumentBlock& block : blocks) {
        if (block.file != blocks[0].file) break;
        CHECK(block.first_line == line);
        line += static_cast<std::uint64_t>(std::count(block.text.begin(), block.text.end(), '\n'));
        all += block.text;
        if (all.size() < text.size()) CHECK((all.ends_with("\n \n") || all.ends_with("\n\n")));
    }
    CHECK(all == text);
    CHECK(blocks.back().text == "Other.\n");
    CHECK(blocks.back().first_line == 1);
}

TEST_CASE("a document of more than 64 MiB, bytes that are not UTF-8, and other formats are refused") {
    const TemporaryFolder folder;
    write_text(folder / "long.txt", std::string(std::size_t{68} << 20, 'a'));
    CHECK_THROWS_AS(blocks_of({folder / "long.txt"}), DataError);
    write_text(folder / "latin.txt", "K\xE4se.\n");
    CHECK_THROWS_AS(blocks_of({folder / "latin.txt"}), DataError);
    write_text(folder / "a.jsonl", "{\"text\": \"A.\"}\n");
    CHECK_THROWS_AS(blocks_of({folder / "a.jsonl"}), DataError);
    CHECK_THROWS_AS(blocks_of({folder / "missing.txt"}), DataError);
}
