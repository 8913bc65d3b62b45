// Outputs that would overwrite an input, that another process writes, or that cannot be written.

#include <string>
#include <vector>

#include "support/catch.h"
#include "support/command.h"
#include "support/contains.h"
#include "support/files.h"

using bertpretrain::testing::contains;
using namespace bertpretrain::testing;

namespace {

namespace fs = std::filesystem;

const std::string program = PROGRAM_FOLDER "/bertpretrain_data";
const std::string tokens = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\n";

/// A folder with a text, a vocabulary, a list of tokens and a list of inputs.
class Files {
public:
    Files() {
        write_text(folder / "text.txt", "The cat sat on the mat.\n");
        write_text(folder / "vocab.txt", tokens);
        write_text(folder / "tokens.txt", "sat\n");
        write_text(folder / "list.txt", path("text.txt") + "\n");
    }
    std::string path(const std::string& name) const { return (folder / name).string(); }
    CommandResult run(const std::string& command) const { return run_command(program + " " + command); }

    TemporaryFolder folder;
};

}  // namespace

TEST_CASE("no command overwrites a file that it reads") {
    const Files files;
    const std::string text = files.path("text.txt"), extend = "vocabulary --extend " + files.path("vocab.txt") + " --tokens " +
                                                              files.path("tokens.txt") + " --output ";
    const auto check_refused = [&](const std::string& command, const std::string& output) {
        const std::string before = read_text(files.folder / output);
        const CommandResult refused = files.run(command + files.path(output));
        INFO(command << refused.err);
        CHECK(refused.exit_code == 2);
        CHECK(contains(refused.err, output + ": would overwrite the "));
        CHECK(read_text(files.folder / output) == before);
    };
    check_refused("vocabulary " + text + " --size 30 --output ", "text.txt");
    check_refused("vocabulary " + files.folder.path().string() + " --size 30 --output ", "text.txt");
    check_refused("vocabulary " + text + " --model bpe --size 300 --output ", "text.txt");
    check_refused(extend, "vocab.txt");
    check_refused(extend, "tokens.txt");
    check_refused("vocabulary --size 30 --inputs-from " + files.path("list.txt") + " --output ", "list.txt");
    check_refused("extract --inputs-from " + files.path("list.txt") + " --output ", "list.txt");
}

TEST_CASE("vocabulary refuses a folder as its output before it counts, and a missing text before it makes a folder") {
    const Files files;
    fs::create_directory(files.folder / "there");
    const CommandResult refused =
        files.run("vocabulary " + files.path("text.txt") + " --size 30 --output " + files.path("there"));
    CHECK(refused.exit_code == 2);
    CHECK(contains(refused.err, "there: exists and is not a regular file"));
    CHECK_FALSE(contains(refused.err, "counted"));
    CHECK_FALSE(fs::exists(files.folder / "there.partial"));
    const CommandResult missing = files.run("vocabulary none.txt --size 30 --output " + files.path("new/vocab.txt"));
    CHECK(contains(missing.err, "none.txt: does not exist; nothing has been written"));
    CHECK_FALSE(fs::exists(files.folder / "new"));
}

TEST_CASE("a file or folder that another process is writing is refused by name") {
    const Files files;
    const auto check_refused = [&](const std::string& held, const std::string& command, const std::string& message) {
        const CommandResult refused = run_command("flock " + files.path(held) + " " + program + " " + command);
        INFO(command << refused.err);
        CHECK(refused.exit_code == 2);
        CHECK(contains(refused.err, message));
    };
    const std::string text = files.path("text.txt"), to_file = " --output " + files.path("out.txt");
    const std::string in_use = "out.txt: another process is writing this file (out.txt.partial is locked)";
    check_refused("out.txt.partial", "extract " + text + to_file, in_use);
    check_refused("out.txt.partial", "vocabulary " + text + " --size 30" + to_file, in_use);
    fs::create_directory(files.folder / "out");
    check_refused("out", "deduplicate " + text + " --output " + files.path("out"),
                  "out: another process is writing into this folder");
    fs::remove(files.folder / "out.txt.partial");
    CHECK(files.run("extract " + text + to_file).exit_code == 0);
    CHECK_FALSE(fs::exists(files.folder / "out.txt.partial"));
}

TEST_CASE("paths that the system refuses are named with its reason, not reported as an error of the program") {
    const Files files;
    const std::string text = files.path("text.txt"), to_file = " --output " + files.path("out.txt"), name(300, 'n');
    const auto check_refused = [&](const std::string& command, int exit_code, const std::string& message) {
        const CommandResult refused = run_command(command);
        INFO(refused.err);
        CHECK(refused.exit_code == exit_code);
        CHECK(contains(refused.err, message));
    };
    fs::create_symlink("loop", files.folder / "loop");
    check_refused(program + " extract " + files.path("loop") + to_file, 3, "loop: cannot be read (Too many levels");
    check_refused(program + " extract " + text + " --output " + files.path(name), 2, "cannot be written (File name too long)");
    check_refused(program + " vocabulary " + text + " --size 30 --output " + files.path(std::string(250, 'n')), 2,
                  "cannot be written (File name too long)");
    check_refused(program + " join " + files.path(name), 3, "data error: " + files.path(name) + ": File name too long");
    write_text(files.folder / "lines.txt", std::string(5'000, 'x') + "\n");
    check_refused(program + " extract --inputs-from " + files.path("lines.txt") + to_file, 3,
                  std::string(200, 'x') + "...: cannot be read (File name too long)");
    write_text(files.folder / "packed", "PAR1 and more");
    check_refused("gzip -c " + files.path("packed") + " > " + files.path("packed.gz") + " && TMPDIR=/none " + program +
                      " extract " + files.path("packed.gz") + to_file,
                  2, "packed.gz: is copied to a temporary file first, but TMPDIR names no folder, /none");
}

TEST_CASE("a file whose name is nearly too long is read") {
    const Files files;
    const std::string name(250, 'n');  // no room for the ending of its record
    write_text(files.folder / name, "One is.\n");
    CHECK(files.run("extract " + files.path(name) + " --output " + files.path("out.txt")).exit_code == 0);
}

TEST_CASE("shard removes the folder that it has made where it has written nothing, also after an extraction") {
    const Files files;
    const std::string shard = "shard " + files.path("text.txt") + " --vocabulary " + files.path("vocab.txt") +
                              " --max-unknown 1 --output " + files.path("out");
    const auto check_refused = [&](int documents, const std::string& options) {
        std::string records;
        for (int i = 0; i < documents; ++i) records += "{\"text\": \"The cat " + std::to_string(i) + ".\"}\n";
        write_text(files.folder / "text.txt", records);
        const CommandResult refused = files.run(shard + options);
        INFO(refused.err);
        CHECK(refused.exit_code == 2);
        CHECK(contains(refused.err, "extracted "));
        CHECK_FALSE(fs::exists(files.folder / "out"));
    };
    check_refused(1, " --format jsonl");
    check_refused(25, " --format jsonl --shards 3 --part 1/30");
}

TEST_CASE("shards are not given hidden names, under which they would not be found") {
    const Files files;
    const CommandResult refused = files.run("shard " + files.path("text.txt") + " --vocabulary " + files.path("vocab.txt") +
                                            " --name .x --output " + files.path("out"));
    CHECK(refused.exit_code == 2);
    CHECK(contains(refused.err, "--name: must not begin with \".\""));
    CHECK_FALSE(fs::exists(files.folder / "out"));
}
