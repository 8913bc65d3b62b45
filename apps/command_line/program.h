#pragma once
// Shared by the command lines of both programs: versions, log options, a man page and bash completion from the same descriptions
// as --help, and parsing.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace bertpretrain {

/// The libraries of a program and their versions, such as {"HDF5", "1.10.8"}.
using Versions = std::vector<std::pair<std::string, std::string>>;

/// Returns what else an unknown option ("--lr") of a command may mean; "" without a guess.
using Advice = std::function<std::string(const CLI::App& command, const std::string& option)>;

/// Adds --version to the program, --quiet and --log-level to every command that does work, and the hidden options --man-page and
/// --bash-completion, which packaging calls. Call this after adding all subcommands.
void add_program_options(CLI::App& app, const Versions& versions);

/// Parses the command line, which runs the subcommand's callback. Prints help, versions and parse errors itself.
/// @returns 0, or ExitCode::config if the command line cannot be parsed
/// @param advice as of suggestion()
/// @throws ConfigError if no subcommand is given; also throws the errors of the callback
int parse_and_run(CLI::App& app, int argc, char** argv, const Advice& advice = {});

/// Returns "did you mean train?" for the first unknown word on a command line that could not be parsed, or what `advice` says of
/// an option that resembles none; "" without a guess.
std::string suggestion(const CLI::App& app, const Advice& advice = {});

/// Returns the program's manual in troff's man macros: every subcommand with every option.
std::string man_page(const CLI::App& app);

/// Returns a bash script that completes subcommands, options, and the values of options that take one of a list; elsewhere files.
std::string bash_completion(const CLI::App& app);

/// Returns whether --help lists the option.
inline bool is_documented(const CLI::Option& option) { return !option.get_group().empty(); }

/// Returns the subcommands that --help lists.
inline std::vector<const CLI::App*> documented_subcommands(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

}  // namespace bertpretrain
