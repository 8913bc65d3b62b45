#include "command_line/program.h"

#include <algorithm>
#include <optional>

#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

std::vector<std::string> option_names(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options())
        if (is_documented(*option))
            for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

/// Returns the one name that begins with `word`, else the one that it misspells.
std::optional<std::string> meant(const std::string& word, const std::vector<std::string>& names) {
    constexpr std::size_t shortest = 5;  // "--" and three letters
    const auto begins = [&](const std::string& name) { return name.starts_with(word); };
    if (word.size() >= shortest && std::ranges::count_if(names, begins) == 1) return *std::ranges::find_if(names, begins);
    return nearest_name(word, names);
}

std::vector<std::string> command_names(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::App* below : documented_subcommands(command)) names.push_back(below->get_name());
    return names;
}

}  // namespace

std::string suggestion(const CLI::App& app, const Advice& advice) {
    const std::vector<CLI::App*> parsed = app.get_subcommands();
    if (!parsed.empty()) return suggestion(*parsed.front(), advice);
    const CLI::App* top = &app;
    while (top->get_parent() != nullptr) top = top->get_parent();
    for (const std::string& word : top->remaining(true)) {
        const bool is_option = word.starts_with("--");
        const auto near =
            meant(is_option ? word.substr(0, word.find('=')) : word, is_option ? option_names(app) : command_names(app));
        if (near) return concat("did you mean ", *near, "?");
        if (!is_option || !advice) continue;
        if (std::string other = advice(app, word.substr(0, word.find('='))); !other.empty()) return other;
    }
    return "";
}

}  // namespace bertpretrain
