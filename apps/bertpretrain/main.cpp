// bertpretrain: pretrains BERT, and evaluates what was trained.

#include <malloc.h>

#include "commands.h"

#include "core/error.h"
#include "core/guard.h"

namespace {

/// Activations are taken and given back every step. Without this the C library maps and unmaps the large ones each time, and
/// the kernel clears their pages again and again.
void keep_freed_memory() {
    ::mallopt(M_MMAP_MAX, 0);
    ::mallopt(M_TRIM_THRESHOLD, 2147483647);
    ::mallopt(M_TOP_PAD, 64 << 20);
}

}  // namespace

int main(int argc, char** argv) {
    keep_freed_memory();
    int exit_code = 0;
    CLI::App app("Pretrains BERT from sharded h5 data, one JSON file per experiment", "bertpretrain");
    app.require_subcommand(1);
    bertpretrain::add_train_command(app, exit_code);
    bertpretrain::add_evaluate_command(app);
    bertpretrain::add_config_command(app);
    return bertpretrain::run_guarded([&] {
        try {
            app.parse(argc, argv);
        } catch (const CLI::ParseError& error) {
            return app.exit(error) == 0 ? 0 : static_cast<int>(bertpretrain::ExitCode::config);
        }
        return exit_code;
    });
}
