#include "commands.h"

namespace bertpretrain {

void add_check_command(CLI::App& app) { app.add_subcommand("check"); }

}  // namespace bertpretrain
