#include <algorithm>

#include "command_line/program.h"

#include "core/concat.h"

namespace bertpretrain {
namespace {

/// Escapes `text` for troff: it prints backslashes and hyphens as they are, and takes no line for a request.
std::string plain(const std::string& text) {
    std::string escaped;
    for (const char letter : text) {
        const bool begins_line = escaped.empty() || escaped.back() == '\n';
        if (begins_line && (letter == '.' || letter == '\'')) escaped += "\\&";
        if (letter == '\\') escaped += "\\e";
        else if (letter == '-') escaped += "\\-";
        else escaped += letter;
    }
    return escaped;
}

std::string bold(const std::string& text) { return concat("\\fB", plain(text), "\\fR"); }

/// Returns the entry of one option, as in --help: names, value type and default, then its description.
std::string option_entry(const CLI::Option& option) {
    const CLI::Formatter help;
    const bool positional = option.get_positional();
    return concat(".TP\n", bold(help.make_option_name(&option, positional)), plain(help.make_option_opts(&option)), "\n",
                  plain(option.get_description()), "\n");
}

std::string option_entries(const CLI::App& app) {
    std::string text;
    for (const bool positional : {true, false})
        for (const CLI::Option* option : app.get_options())
            if (is_documented(*option) && option->get_positional() == positional) text += option_entry(*option);
    return text;
}

std::string synopsis(const CLI::App& app, const std::string& name) {
    std::string line = bold(name);
    for (const CLI::Option* option : app.get_options())
        if (option->get_positional())
            line += concat(" \\fI", plain(option->get_name(true)), "\\fR",
                           option->get_expected_max() == CLI::detail::expected_max_vector_size ? "..." : "");
    return line + " [\\fIOPTION\\fR]...\n";
}

/// Returns the sections of all subcommands, nested ones included, each with name, description and options.
std::string command_sections(const CLI::App& app, const std::string& prefix) {
    std::string text;
    for (const CLI::App* command : documented_subcommands(app)) {
        const std::string name = concat(prefix, " ", command->get_name());
        text += concat(".SS \"", plain(name), "\"\n");
        if (documented_subcommands(*command).empty()) text += synopsis(*command, name) + ".PP\n";
        text += plain(command->get_description()) + ".\n" + option_entries(*command);
        text += command_sections(*command, name);
    }
    return text;
}

constexpr const char* exit_status =
    ".SH \"EXIT STATUS\"\n"
    ".TP\n0\nDone.\n"
    ".TP\n2\nThe request cannot be met: the message says what to change.\n"
    ".TP\n3\nA data file is missing, damaged or different.\n"
    ".TP\n4\nSaving or restoring a checkpoint failed.\n"
    ".TP\n5\nA peer or the network failed; a restart may help.\n"
    ".TP\n6\nThe numbers failed; a restart does not fix it.\n"
    ".TP\n70\nA bug in the program.\n"
    ".TP\n128+n\nStopped by signal n.\n";

}  // namespace

std::string man_page(const CLI::App& app) {
    const std::string name = app.get_name();
    std::string title = name;
    std::transform(title.begin(), title.end(), title.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const std::string other = name == "bertpretrain" ? "bertpretrain_data" : "bertpretrain";
    return concat(".TH ", title, " 1 \"\" \"", name, " ", BERTPRETRAIN_VERSION, "\" \"User Commands\"\n", ".SH NAME\n",
                  plain(name), " \\- ", plain(app.get_description()), "\n.SH SYNOPSIS\n", bold(name),
                  " \\fICOMMAND\\fR [\\fIOPTION\\fR]...\n", ".SH OPTIONS\n", option_entries(app), ".SH COMMANDS\n",
                  command_sections(app, name), exit_status, ".SH \"SEE ALSO\"\n", bold(other), "(1)\n");
}

}  // namespace bertpretrain
