#pragma once
// The subcommands. Each function adds one to the command line. Its work runs in CLI11's callback and throws bertpretrain::Error.

#include <string>

#include <CLI/CLI.hpp>

namespace bertpretrain {

void add_extract_command(CLI::App& app);
void add_vocabulary_command(CLI::App& app);
void add_deduplicate_command(CLI::App& app);
void add_tokenize_command(CLI::App& app);
void add_shard_command(CLI::App& app);
void add_join_command(CLI::App& app);
void add_check_command(CLI::App& app);
void add_show_command(CLI::App& app);

/// Adds `--rules`, which several commands share. @param rules holds the default and receives the value
inline CLI::Option* add_rules_option(CLI::App& command, std::string& rules) {
    return command
        .add_option("--rules", rules, "Tokenizer whose rules to follow for rare characters: huggingface, google or nvidia")
        ->capture_default_str()
        ->check(CLI::IsMember({"huggingface", "google", "nvidia"}));
}

}  // namespace bertpretrain
