// The digests of what commands read and write.
#include "text/reader/text_lineage.h"

#include "packing.h"
#include "support/command.h"
#include "text/reader/extract.h"

using namespace bertpretrain;
using testing::TemporaryFolder;
using testing::write_text;

namespace {

std::string system_hash(const std::filesystem::path& file) {
    return testing::run_command("sha256sum < " + file.string()).out.substr(0, 64);
}

constexpr const char* dump_with_a_comment =
    "<mediawiki><page><title>Heron</title><ns>0</ns><revision><text>The heron waits. It is patient.</text></revision></page>"
    "</mediawiki>\n<!-- after the end -->\n";

}  // namespace

TEST_CASE("extract records the digests of its inputs as they are stored, and of its output") {
    const TemporaryFolder folder;
    write_text(folder / "a.txt", "One sentence.\n\nAnother one.\n");
    write_text(folder / "b.bz2", testing::bzip2("Packed text is here.\n"));
    write_text(folder / "c.xml", dump_with_a_comment);
    write_text(folder / "d.txt", "");
    ExtractSettings settings;
    settings.output = folder / "out.txt";
    for (const char* name : {"a.txt", "b.bz2", "c.xml", "d.txt"}) settings.inputs.push_back(folder / name);
    extract(settings);

    const FileDigest digest = digest_of_file(folder / "out.txt");
    const std::vector<FileDigest> inputs = origin_of_text(folder / "out.txt", digest);
    REQUIRE(inputs.size() == 4);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        CHECK(inputs[i].file == settings.inputs[i].string());
        CHECK(inputs[i].sha256 == system_hash(settings.inputs[i]));
        CHECK(inputs[i].bytes == std::filesystem::file_size(settings.inputs[i]));
    }

    SECTION("a text that was changed since has no recorded origin") {
        write_text(folder / "out.txt", "Other text.\n");
        CHECK(origin_of_text(folder / "out.txt", digest_of_file(folder / "out.txt")).empty());
    }
    SECTION("a text that was cut since is refused by every reader of documents, and one of the same length is read") {
        std::filesystem::resize_file(folder / "out.txt", digest.bytes - 1);
        settings.inputs = {folder / "out.txt"};
        settings.output = folder / "again.txt";
        CHECK_THROWS_WITH(extract(settings), Catch::Contains("out.txt.lineage.json says that it was written with") &&
                                                 Catch::Contains("do: copy the file again"));
        CHECK_FALSE(std::filesystem::exists(folder / "again.txt"));
        write_text(folder / "out.txt", std::string(digest.bytes - 2, 'x') + ".\n");
        CHECK_NOTHROW(extract(settings));
        CHECK(origin_of_text(folder / "again.txt", digest_of_file(folder / "again.txt")).at(0).made_from.empty());
    }
    SECTION("a damaged record counts as none") {
        write_text(folder / "out.txt.lineage.json", "{");
        CHECK(origin_of_text(folder / "out.txt", digest).empty());
    }
    SECTION("text made from the output names the origin of the origin, and a folder's records are not read as documents") {
        std::filesystem::create_directory(folder / "texts");
        for (const char* name : {"out.txt", "out.txt.lineage.json"})
            std::filesystem::rename(folder / name, folder / "texts" / name);
        settings.inputs = {folder / "texts"};
        settings.output = folder / "again.txt";
        extract(settings);
        const std::vector<FileDigest> made_from = origin_of_text(folder / "again.txt", digest_of_file(folder / "again.txt"));
        REQUIRE(made_from.size() == 1);
        CHECK(made_from[0].sha256 == digest.sha256);
        CHECK(made_from[0].made_from.size() == 4);
    }
}
