// scripts/get_wikipedia.sh with a dump site on the loopback interface.

#include "support/catch.h"
#include "support/command.h"
#include "support/files.h"
#include "support/process.h"

using namespace bertpretrain::testing;

namespace {

const std::string name = "xxwiki-20260101-pages-articles.xml.bz2";

/// A dump site with one dump.
class Site {
public:
    Site() {
        content_ = std::string(300'000, 'b');
        for (std::size_t i = 0; i < content_.size(); i += 7) content_[i] = static_cast<char>('a' + i % 23);
        std::filesystem::create_directories(folder_ / "xxwiki/20260101");
        std::filesystem::create_directories(folder_ / "xxwiki/latest");
        put(content_);
        const std::string sum = run_command("sha1sum < " + path(name)).out.substr(0, 40);
        for (const std::string date : {"20260101", "latest"})
            write_text(folder_ / ("xxwiki/" + date + "/xxwiki-" + date + "-sha1sums.txt"),
                       "0123456789012345678901234567890123456789  xxwiki-20260101-pages-articles-multistream.xml.bz2\n" + sum +
                           "  " + name + "\n");
    }
    void put(const std::string& content) { write_text(folder_ / ("xxwiki/20260101/" + name), content); }
    const std::string& content() const { return content_; }
    std::string ranges() const { return read_text(folder_ / "ranges.log"); }

    /// Runs the script with a new server. @param cut number of bytes after which the server ends; 0: never
    CommandResult get(const TemporaryFolder& into, const std::string& options = "", int cut = 0) const {
        const std::string cuts = cut == 0 ? "" : " xxwiki/20260101/" + name + ":" + std::to_string(cut);
        const std::string port = (into / "port").string();
        return run_command("python3 tests/data_tools/range_server.py " + folder_.path().string() + cuts + " > " + port +
                           " & server=$!; while [ ! -s " + port +
                           " ]; do sleep 0.02; done; "
                           "no_proxy='*' scripts/get_wikipedia.sh --language xx --from http://127.0.0.1:$(cat " +
                           port + ") --output " + (into / "out").string() + " " + options + "; code=$?; rm " + port +
                           "; kill $server 2>/dev/null; exit $code");
    }

private:
    std::string path(const std::string& file) const { return (folder_ / ("xxwiki/20260101/" + file)).string(); }

    TemporaryFolder folder_;
    std::string content_;
};

}  // namespace

TEST_CASE("a dump is downloaded and verified, and its path is printed, by date or as the latest") {
    const Site site;
    for (const std::string options : {"", "--date 20260101"}) {
        const TemporaryFolder into;
        const CommandResult result = site.get(into, options);
        CAPTURE(result.err);
        CHECK(result.exit_code == 0);
        CHECK(result.out == (into / "out").string() + "/" + name + "\n");
        CHECK((read_text(into / ("out/" + name)) == site.content()));
        CHECK(site.get(into, options).out == result.out);  // already there
    }
}

TEST_CASE("an interrupted download continues where it stopped") {
    const Site site;
    const TemporaryFolder into;
    const CommandResult cut = site.get(into, "", 100'000);
    CAPTURE(cut.err);
    CHECK(cut.exit_code == 5);
    CHECK_FALSE(std::filesystem::exists(into / ("out/" + name)));
    const auto so_far = std::filesystem::file_size(into / ("out/" + name + ".partial"));
    CHECK(so_far > 0);
    CHECK(so_far <= 100'000);
    CHECK(site.get(into).exit_code == 0);
    CHECK((read_text(into / ("out/" + name)) == site.content()));
    CHECK(site.ranges() == "/xxwiki/20260101/" + name + " " + std::to_string(so_far) + "\n");
}

TEST_CASE("a file with a wrong checksum is refused and deleted") {
    Site site;
    std::string other = site.content();
    other[1000] = 'X';
    site.put(other);
    const TemporaryFolder into;
    const CommandResult result = site.get(into);
    CHECK(result.exit_code == 3);
    CHECK(result.err.find("does not match its SHA-1 checksum") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(into / ("out/" + name)));
    CHECK_FALSE(std::filesystem::exists(into / ("out/" + name + ".partial")));
}

TEST_CASE("a date that the site lacks, a site that does not answer and bad requests have different exit codes") {
    const Site site;
    const TemporaryFolder into;
    const CommandResult missing = site.get(into, "--date 19990101");
    CHECK(missing.exit_code == 3);
    CHECK(missing.err.find("the site does not have it") != std::string::npos);
    const std::string script = "no_proxy='*' scripts/get_wikipedia.sh --output " + into.path().string() + " ";
    CHECK(run_command(script + "--from http://127.0.0.1:1").exit_code == 5);
    CHECK(run_command(script + "--date yesterday").exit_code == 2);
    CHECK(run_command(script + "--language ../x").exit_code == 2);
    CHECK(run_command(script + "--speed 9").exit_code == 2);
    CHECK(run_command("scripts/get_wikipedia.sh --help").out.find("--language") != std::string::npos);
}
