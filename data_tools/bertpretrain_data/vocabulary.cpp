#include "commands.h"

namespace bertpretrain {

void add_vocabulary_command(CLI::App& app) { app.add_subcommand("vocabulary"); }

}  // namespace bertpretrain
