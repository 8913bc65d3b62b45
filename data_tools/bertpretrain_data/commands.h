#pragma once
// Every subcommand adds itself to the command line; its work runs in CLI11's callback and throws bertpretrain::Error.

#include <CLI/CLI.hpp>

namespace bertpretrain {

void add_extract_command(CLI::App& app);
void add_vocabulary_command(CLI::App& app);
void add_tokenize_command(CLI::App& app);
void add_shard_command(CLI::App& app);
void add_check_command(CLI::App& app);

}  // namespace bertpretrain
