#include "commands.h"

namespace bertpretrain {

void add_shard_command(CLI::App& app) { app.add_subcommand("shard"); }

}  // namespace bertpretrain
