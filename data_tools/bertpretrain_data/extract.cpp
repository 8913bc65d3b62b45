#include "commands.h"

namespace bertpretrain {

void add_extract_command(CLI::App& app) { app.add_subcommand("extract"); }

}  // namespace bertpretrain
