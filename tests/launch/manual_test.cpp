// The man page and bash completion have everything that --help lists; --version prints what a bug report needs.
#include <regex>

#include "core/error.h"
#include "support/catch.h"
#include "support/command.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// Returns the names of those of the two programs that this build has.
std::vector<std::string> programs() {
    std::vector<std::string> found;
    for (const std::string name : {"bertpretrain", "bertpretrain_data"})
        if (std::filesystem::exists(PROGRAM_FOLDER "/" + name)) found.push_back(PROGRAM_FOLDER "/" + name);
    return found;
}

std::string output_of(const std::string& command) {
    const CommandResult result = run_command(command);
    INFO(command);
    CHECK(result.exit_code == 0);
    return result.out;
}

struct HelpEntry {
    std::string command;      ///< " config check"
    std::string name;         ///< "--output", or a subcommand
    std::string description;  ///< as --help words it
};

/// Returns every option and subcommand that --help lists, at any depth.
void collect_help(const std::string& program, const std::string& command, std::vector<HelpEntry>& entries) {
    static const std::regex line(R"(\n  (?:-\w,)?(--[\w-]+|\w+)[^\n]*?(?:  +|\n {10,})([A-Z][^\n]*))");
    const std::string help = output_of(concat(program, command, " --help"));
    const std::size_t subcommands = std::min(help.find("\nSubcommands:"), help.size());
    for (std::sregex_iterator match(help.begin(), help.end(), line), end; match != end; ++match) {
        const bool is_command = static_cast<std::size_t>(match->position()) >= subcommands;
        if (!is_command && !(*match)[1].str().starts_with("--")) continue;
        entries.push_back({command, (*match)[1], (*match)[2]});
        if (is_command) collect_help(program, concat(command, " ", (*match)[1].str()), entries);
    }
}

/// Returns a man page's words without troff's escapes, separated by single spaces.
std::string words_of(const std::string& page) {
    const std::string unescaped =
        std::regex_replace(std::regex_replace(page, std::regex(R"(\\f[BIR]|\\&)"), ""), std::regex(R"(\\-)"), "-");
    return std::regex_replace(std::regex_replace(unescaped, std::regex(R"(\\e)"), "\\\\"), std::regex(R"(\s+)"), " ");
}

}  // namespace

TEST_CASE("the man page holds every command and option with its description") {
    for (const std::string& program : programs()) {
        std::vector<HelpEntry> entries;
        collect_help(program, "", entries);
        CHECK(entries.size() > 20);
        const std::string page = words_of(output_of(program + " --man-page"));
        for (const HelpEntry& entry : entries) {
            INFO(program << entry.command << " " << entry.name);
            CHECK(page.find(entry.name) != page.npos);
            CHECK(page.find(std::regex_replace(entry.description, std::regex(R"(\s+)"), " ")) != page.npos);
        }
    }
}

TEST_CASE("bash completes every command and option, and elsewhere files") {
    for (const std::string& program : programs()) {
        const std::string name = std::filesystem::path(program).filename().string();
        std::vector<HelpEntry> entries;
        collect_help(program, "", entries);
        const TemporaryFolder folder;
        write_text(folder / "completion", output_of(program + " --bash-completion"));
        const auto complete = [&](const std::string& words) {  // returns the completions of the last word
            return output_of(concat("bash -euc 'source ", (folder / "completion").string(), "; COMP_WORDS=(", name, words,
                                    "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=(); _", name,
                                    "; echo \" ${COMPREPLY[*]} \"'"));
        };
        std::map<std::string, std::string> answers;  // one bash process per command
        for (const HelpEntry& entry : entries) {
            const std::string words = concat(entry.command, entry.name.starts_with("--") ? " --" : " \"\"");
            if (!answers.contains(words)) answers[words] = complete(words);
            INFO(name << words);
            CHECK(answers[words].find(" " + entry.name + " ") != std::string::npos);
        }
        if (name == "bertpretrain_data") {
            CHECK(complete(" shard --compatible-with \"\"") == " nvidia google \n");
            CHECK(complete(" shard \"\"") == "  \n");
        }
    }
}

TEST_CASE("--physical-cores prints how many physical cores the program may use") {
    for (const std::string& program : programs())
        if (!program.ends_with("_data")) CHECK(output_of("taskset 1 " + program + " --physical-cores") == "1\n");
}

TEST_CASE("--version prints the commit and the versions of the program's libraries") {
    for (const std::string& program : programs()) {
        const std::string version = output_of(program + " --version");
        CAPTURE(version);
        CHECK(std::regex_search(version, std::regex(R"(^bertpretrain\w* \d+\.\d+\.\d+ \(commit ([0-9a-f]{12}\+?|unknown)\)\n)")));
        CHECK(std::regex_search(version, std::regex(R"(\nHDF5 \d+\.\d+\.\d+\n)")));
        if (!program.ends_with("_data"))
            for (const std::string part : {"libtorch", "CUDA", "NCCL"})
                CHECK(std::regex_search(version, std::regex("\n" + part + " \\d+\\.\\d+")));
    }
}
