#pragma once
// Every subcommand adds itself to the command line; its work runs in CLI11's callback and throws bertpretrain::Error.

#include <string>

#include <CLI/CLI.hpp>

namespace bertpretrain {

void add_extract_command(CLI::App& app);
void add_vocabulary_command(CLI::App& app);
void add_tokenize_command(CLI::App& app);
void add_shard_command(CLI::App& app);
void add_check_command(CLI::App& app);

/// `--rules`, which several commands have alike. @param rules its default, and where the answer goes
inline CLI::Option* add_rules_option(CLI::App& command, std::string& rules) {
    return command.add_option("--rules", rules, "Whose rules for rare characters: huggingface, google or nvidia")
        ->capture_default_str()
        ->check(CLI::IsMember({"huggingface", "google", "nvidia"}));
}

}  // namespace bertpretrain
