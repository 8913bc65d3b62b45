// Bad inputs to `bertpretrain_data` give one clear message and the documented exit code, and leave no partial output.

#include "support/catch.h"
#include "system/refusal.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

struct BadInput {
    std::string arguments;  ///< {} stands for the folder of the inputs
    int exit_code;
    std::vector<std::string> words;
};

const std::string shard_options = " --output {}/out --sequence-length 64 --max-predictions 10";

const std::vector<BadInput> bad_inputs{
    {"", config_exit, {"subcommand is missing"}},
    {"frobnicate", config_exit, {"frobnicate"}},

    {"extract {}/none.xml --output {}/out", data_exit, {"none.xml", "does not exist"}},
    {"extract {} --output {}/out", data_exit, {"cut.xml", "cut short"}},
    {"extract {}/no_article.xml --output {}/out", data_exit, {"no document found"}},
    {"extract {}/words.txt {}/words.txt --output {}/out", config_exit, {"words.txt", "is given twice"}},
    {"extract {}/cut.xml --output {}/out", data_exit, {"cut.xml", "cut short", "download it again"}},
    {"extract {}/no_article.xml --output /proc/no/out", config_exit, {"/proc/no", "--output"}},
    {"extract {}/no_article.xml", config_exit, {"--output is required"}},

    {"vocabulary {}/none.txt --size 800 --output {}/out", data_exit, {"none.txt", "does not exist"}},
    {"vocabulary {}/blank.txt --size 800 --output {}/out", data_exit, {"blank.txt", "no word"}},
    {"vocabulary {}/text.txt --size 10 --output {}/out", config_exit, {"10 tokens is too small", "--size"}},

    {"shard {}/none.txt --vocabulary {}/vocab.txt" + shard_options, data_exit, {"none.txt"}},
    {"shard {}/blank.txt --vocabulary {}/vocab.txt" + shard_options, data_exit, {"no document found"}},
    {"shard {}/text.txt --vocabulary {}/words.txt" + shard_options, data_exit, {"words.txt", "[PAD] is missing", "[MASK]"}},
    {"shard {}/text.txt --vocabulary {}/empty" + shard_options, data_exit, {"empty", "one token per line"}},
    {"shard {}/text.txt --vocabulary {}/vocab.txt --shards 500" + shard_options,
     config_exit,
     {"72 articles are too few for 500 training", "at most --shards 65", "--documents"}},
    {"shard {}/text.txt --vocabulary {}/vocab.txt --shards 0" + shard_options, config_exit, {"--shards 0", "at least 1"}},
    {"shard {}/text.txt --vocabulary {}/vocab.txt --held-out-fraction 1.5" + shard_options,
     config_exit,
     {"held_out_fraction = 1.5", "between 0 and 1"}},
    {"shard {}/text.txt --vocabulary {}/vocab.txt --duplicate-factor 0" + shard_options, config_exit, {"duplicate_factor = 0"}},
    {"shard {}/text.txt --vocabulary {}/vocab.txt --output {}/out --max-predictions 200",
     config_exit,
     {"max_predictions = 200", "at most 125"}},
    {"shard {}/text.txt --vocabulary {}/vocab.txt --output {}/out --sequence-length 4",
     config_exit,
     {"sequence_length = 4", "between 8 and 65536"}},
    {"shard {}/text.txt --vocabulary {}/vocab.txt --output {}/shards --shards 1",
     config_exit,
     {"shards", "already holds manifest.json", "--overwrite"}},
    {"shard {}/text.txt --vocabulary {}/vocab.txt --output {}/vocab.txt --shards 1",
     config_exit,
     {"vocab.txt", "folder", "--output"}},

    {"tokenize --vocabulary {}/none.txt {}/text.txt", data_exit, {"none.txt", "does not exist"}},
    {"check {}/none", data_exit, {"none", "does not exist"}},
    {"check {}/text.txt", data_exit, {"text.txt", "is not a folder"}},
};

std::string in_folder(std::string arguments, const fs::path& folder) {
    for (std::size_t at = arguments.find("{}"); at != std::string::npos; at = arguments.find("{}"))
        arguments.replace(at, 2, folder.string());
    return arguments;
}

}  // namespace

TEST_CASE("bertpretrain_data refuses bad inputs with one message, and changes no existing file") {
    const TemporaryFolder folder;
    fs::copy(sample_data().folder, folder.path(), fs::copy_options::recursive);
    write_text(folder / "no_article.xml", "<mediawiki></mediawiki>");
    write_text(folder / "words.txt", "some\nwords\n");
    write_text(folder / "cut.xml",
               read_text(fs::path(PROJECT_FOLDER) / "data_tools/sample/encyclopaedia.xml").substr(0, 100'000));
    write_text(folder / "blank.txt", "\n\n \n");
    write_text(folder / "empty", "");
    const auto before = files_of(folder.path());
    for (const BadInput& bad : bad_inputs) {
        const std::string arguments = in_folder(bad.arguments, folder.path());
        check_refusal(run_command(data_program + " " + arguments), bad.exit_code, bad.words, arguments);
        INFO(arguments);
        CHECK((files_of(folder.path()) == before));
    }
}
