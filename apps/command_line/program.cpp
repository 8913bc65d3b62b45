#include "command_line/program.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include "command_line/commit.h"  // scripts/cmake/commit.cmake writes it at each build

#include "core/error.h"
#include "core/files/local_path.h"
#include "core/output/displayable.h"
#include "core/output/log.h"
#include "core/output/table.h"
#include "core/program_version.h"
#include "core/signals.h"
#include "core/strings.h"
#include "shards/hdf5_version.h"

namespace bertpretrain {
namespace {

std::string version_text() {
    const ProgramVersion& of = program_version();
    std::string text = concat(of.program, " ", of.version, " (commit ", of.commit, ")");
    for (const auto& [name, version] : of.libraries) text += concat("\n", name, " ", version);
    return text;
}

void add_hidden_text(CLI::App& app, const std::string& flag, std::string (*write)(const CLI::App&)) {
    const auto print = [&app, write] {
        std::cout << write(app);
        throw CLI::Success();
    };
    app.add_flag_callback(flag, print, "For packaging")->group("");
}

/// Help whose descriptions are wrapped to the terminal's width.
class WrappedHelp : public CLI::Formatter {
public:
    std::string make_option_desc(const CLI::Option* option) const override {
        return fitted(CLI::Formatter::make_option_desc(option));
    }
    std::string make_subcommand(const CLI::App* command) const override {
        std::ostringstream text;
        CLI::detail::format_help(text, command->get_display_name(true), fitted(command->get_description()), column_width_);
        return text.str();
    }

private:
    std::string fitted(const std::string& description) const {
        constexpr std::size_t widest = 100;
        std::string text = wrapped(description, std::min(output_width(), widest) - column_width_, 0, 0);
        return text.substr(0, text.find_last_not_of('\n') + 1);
    }
};

void wrap_help(CLI::App& app, const std::shared_ptr<WrappedHelp>& help) {
    app.formatter(help);
    for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) wrap_help(*command, help);
}

/// Adds the log options to every command that does work.
void add_log_options(CLI::App& app) {
    for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
        add_log_options(*command);
        if (!documented_subcommands(*command).empty()) continue;
        const auto set_level = [](const std::string& name) {
            set_log_level(name == "info" ? LogLevel::info : name == "warning" ? LogLevel::warning : LogLevel::error);
        };
        CLI::Option* quiet = command->add_flag_callback(
            "--quiet", [set_level] { set_level("warning"); }, "Print no progress: only results, warnings and errors");
        command
            ->add_option_function<std::string>("--log-level", set_level,
                                               "The least severe messages that are printed to standard error. A run's log.txt "
                                               "has all messages")
            ->check(CLI::IsMember({"info", "warning", "error"}))
            ->default_str("info")
            ->excludes(quiet);
    }
}

/// Makes every command refuse an --output that cannot be meant as a local path: what is written would be lost with this machine.
/// An interrupted command says that its output is not complete.
void prepare_outputs(CLI::App& app) {
    for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
        prepare_outputs(*command);
        if (CLI::Option* output = command->get_option_no_throw("--output"))
            output->each([](const std::string& path) {
                if (const std::string why = not_local(path); !why.empty())
                    throw ConfigError(concat("--output \"", displayable(path), "\": ", why));
                note_when_interrupted(
                    concat("interrupted: ", displayable(path), " is not complete\n  do: run the same command again"));
            });
    }
}

/// Makes options that may be given several times take one value each: `average --steps 900,1000 RUN` would otherwise read RUN as
/// a third step.
void end_lists_of_values(CLI::App& app) {
    for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
        end_lists_of_values(*command);
        for (CLI::Option* option : command->get_options())
            if (option->nonpositional() && option->get_allow_extra_args()) option->allow_extra_args(false);
    }
}

}  // namespace

void add_program_options(CLI::App& app, const Versions& versions) {
    wrap_help(app, std::make_shared<WrappedHelp>());
    add_log_options(app);
    prepare_outputs(app);
    end_lists_of_values(app);
    ProgramVersion version{app.get_name(), BERTPRETRAIN_VERSION, BERTPRETRAIN_COMMIT, versions};
    version.libraries.emplace_back("HDF5", hdf5_version());
    set_program_version(std::move(version));
    app.set_version_flag("--version", version_text(), "Print the versions of the program and of its libraries, and exit");
    add_hidden_text(app, "--man-page", man_page);
    add_hidden_text(app, "--bash-completion", bash_completion);
}

int parse_and_run(CLI::App& app, int argc, char** argv, const Advice& advice) {
    // The parser would take the next option as the value.
    for (int i = 1; i < argc; ++i)
        if (const std::string_view given = argv[i]; given.starts_with("--") && given.find('=') == given.size() - 1)
            throw ConfigError(concat(displayable(given), ": has no value\n  do: check that the shell variable in it is set"));
    try {
        app.parse(argc, argv);
        // CLI11's own check for a missing subcommand would not name a misspelt one.
        if (app.get_subcommands().empty()) throw ConfigError("a subcommand is missing; --help lists them");
    } catch (const CLI::ParseError& error) {
        if (app.exit(error) == 0) return 0;
        if (const std::string hint = suggestion(app, advice); !hint.empty()) std::cerr << hint << std::endl;
        return static_cast<int>(ExitCode::config);
    }
    return 0;
}

}  // namespace bertpretrain
