#pragma once
// Shared by the command lines of both programs: versions, log options, a man page and bash completion made from the descriptions
// that --help prints, and the handling of parse errors.

#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace bertpretrain {

/// The libraries of a program with their versions: {"HDF5", "1.10.8"}.
using Versions = std::vector<std::pair<std::string, std::string>>;

/// Adds --version, --quiet and --log-level to every command, and --man-page and --bash-completion, which packaging calls and
/// --help does not list. Call it after all subcommands were added.
void add_program_options(CLI::App& app, const Versions& versions);

/// Parses the command line, which runs the subcommand's callback. Prints a parse error to standard error.
/// @returns 0, or the exit code of a command line with an error
int parse_and_run(CLI::App& app, int argc, char** argv);

/// Returns "did you mean train?" for the first unknown word on a command line that could not be parsed; "" without a guess.
std::string suggestion(const CLI::App& app);

/// The manual of the program in troff's man macros: every subcommand with every option.
std::string man_page(const CLI::App& app);

/// A script for bash: subcommands, options, the values of options that have a list of them; files elsewhere.
std::string bash_completion(const CLI::App& app);

/// Whether --help lists the option.
inline bool is_documented(const CLI::Option& option) { return !option.get_group().empty(); }

/// The subcommands that --help lists.
inline std::vector<const CLI::App*> documented_subcommands(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

}  // namespace bertpretrain
