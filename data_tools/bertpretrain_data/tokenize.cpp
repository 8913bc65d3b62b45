#include "commands.h"

namespace bertpretrain {

void add_tokenize_command(CLI::App& app) { app.add_subcommand("tokenize"); }

}  // namespace bertpretrain
