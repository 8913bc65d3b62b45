#include <algorithm>

#include "command_line/program.h"

#include "core/concat.h"

namespace bertpretrain {
namespace {

/// Returns one line of a shell `case` over the path of commands so far.
std::string branch(const std::string& pattern, const std::string& action) {
    return concat("        \"", pattern, "\") ", action, " ;;\n");
}

/// Returns the values of an option that takes one of a list, separated by spaces; else "". CLI11 writes them into the option's
/// type as {a,b}.
std::string choices(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const std::size_t begin = type.find('{'), end = type.find('}', begin);
    if (begin == type.npos || end == type.npos) return "";
    std::string words = type.substr(begin + 1, end - begin - 1);
    std::replace(words.begin(), words.end(), ',', ' ');
    return words;
}

/// The `case` branches of all commands of the tree, by purpose.
struct Branches {
    std::string walk;     ///< go from a command to one of its subcommands
    std::string words;    ///< complete subcommands and options
    std::string choices;  ///< complete the value of an option that takes one of a list
};

void add_branches(const CLI::App& app, const std::string& path, Branches& branches) {
    std::string words;
    for (const CLI::App* command : documented_subcommands(app)) {
        words += command->get_name() + " ";
        const std::string below = path + " " + command->get_name();
        branches.walk += branch(below, concat("path='", below, "'"));
        add_branches(*command, below, branches);
    }
    for (const CLI::Option* option : app.get_options()) {
        if (!is_documented(*option) || option->get_positional()) continue;
        for (const std::string& name : option->get_lnames()) {
            words += "--" + name + " ";
            if (const std::string values = choices(*option); !values.empty())
                branches.choices += branch(concat(path, " --", name), concat("words='", values, "' listed=yes"));
        }
    }
    if (!words.empty()) words.pop_back();
    branches.words += branch(path, concat("words='", words, "'"));
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
    const std::string name = app.get_name();
    Branches branches;
    add_branches(app, "", branches);
    return concat("# bash completion of ", name, ", written by `", name, " --bash-completion`\n_", name, "() {\n",
                  "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path='' words='' listed='' i\n"
                  "    for ((i = 1; i < COMP_CWORD; i++)); do\n        case \"$path ${COMP_WORDS[i]}\" in\n",
                  branches.walk, "        esac\n    done\n    case \"$path\" in\n", branches.words,
                  "    esac\n    case \"$path $prev\" in\n", branches.choices,
                  "    esac\n"
                  "    # a word that is not an option and follows all subcommands is a file, which bash completes itself\n"
                  "    if [[ $cur == -* || $words != --* || -n $listed ]]; then\n"
                  "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n    fi\n}\n"
                  "complete -o default -F _",
                  name, " ", name, "\n");
}

}  // namespace bertpretrain
