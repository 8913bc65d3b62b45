#include "command_line/program.h"

#include <iostream>

#include "command_line/commit.h"  // written by scripts/cmake/commit.cmake at each build

#include "core/error.h"
#include "shards/hdf5_version.h"

namespace bertpretrain {
namespace {

std::string version_text(const std::string& program, Versions versions) {
    versions.emplace_back("HDF5", hdf5_version());
    std::string text = concat(program, " ", BERTPRETRAIN_VERSION, " (commit ", BERTPRETRAIN_COMMIT, ")");
    for (const auto& [name, version] : versions) text += concat("\n", name, " ", version);
    return text;
}

void add_hidden_text(CLI::App& app, const std::string& flag, std::string (*write)(const CLI::App&)) {
    const auto print = [&app, write] {
        std::cout << write(app);
        throw CLI::Success();
    };
    app.add_flag_callback(flag, print, "For packaging")->group("");
}

}  // namespace

void add_program_options(CLI::App& app, const Versions& versions) {
    app.set_version_flag("--version", version_text(app.get_name(), versions),
                         "Print the versions of the program and of its libraries, and exit");
    add_hidden_text(app, "--man-page", man_page);
    add_hidden_text(app, "--bash-completion", bash_completion);
}

int parse_and_run(CLI::App& app, int argc, char** argv) {
    try {
        app.parse(argc, argv);
        // CLI11's own check for a missing subcommand would not name a misspelt one.
        if (app.get_subcommands().empty()) throw ConfigError("a subcommand is missing; --help lists them");
    } catch (const CLI::ParseError& error) { return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::config); }
    return 0;
}

}  // namespace bertpretrain
