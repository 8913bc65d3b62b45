#pragma once
// What the command lines of both programs share: versions, a man page and bash completion made from the same descriptions as
// --help, and how parsing ends.

#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace bertpretrain {

/// What a program stands on, and which version of it: {"HDF5", "1.10.8"}.
using Versions = std::vector<std::pair<std::string, std::string>>;

/// Adds --version, and --man-page and --bash-completion, which packaging calls and --help does not list. Comes after all
/// subcommands.
void add_program_options(CLI::App& app, const Versions& versions);

/// Parses, which runs the subcommand's callback. @returns 0, or the exit code of a request that was not understood
int parse_and_run(CLI::App& app, int argc, char** argv);

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
