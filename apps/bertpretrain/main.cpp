// bertpretrain: pretrains BERT, and evaluates what was trained.

#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <new>
#include <string>

#include <c10/util/Exception.h>

#include "commands.h"

#include "core/error.h"
#include "core/guard.h"
#include "shards/shard_probe.h"

namespace {

/// Activations are taken and given back every step. Without this the C library maps and unmaps the large ones each time, and
/// the kernel clears their pages again and again.
void keep_freed_memory() {
    ::mallopt(M_MMAP_MAX, 0);
    ::mallopt(M_TRIM_THRESHOLD, -1);  // never
    ::mallopt(M_TOP_PAD, 64 << 20);
}

}  // namespace

int main(int argc, char** argv) {
    if (const std::optional<int> answered = bertpretrain::answer_probe(argc, argv)) return *answered;
    keep_freed_memory();
    int exit_code = 0;
    CLI::App app("Pretrains BERT from sharded h5 data, one JSON file per experiment", "bertpretrain");
    app.require_subcommand(0, 1);  // one too few is reported below, where a misspelt one is named
    bertpretrain::add_train_command(app, exit_code);
    bertpretrain::add_evaluate_command(app);
    bertpretrain::add_inspect_command(app);
    bertpretrain::add_config_command(app);
    const int code = bertpretrain::run_guarded([&] {
        try {
            app.parse(argc, argv);
            if (app.get_subcommands().empty()) throw bertpretrain::ConfigError("a subcommand is missing; --help lists them");
        } catch (const CLI::ParseError& error) {
            return app.exit(error) == 0 ? 0 : static_cast<int>(bertpretrain::ExitCode::config);
        } catch (const c10::Error& error) {  // also what PyTorch's allocators throw
            const std::string what = error.what_without_backtrace();
            if (what.find("allocate memory") == what.npos && what.find("out of memory") == what.npos) throw;
            throw std::bad_alloc();
        }
        return exit_code;
    });
    if (code == 0) return 0;
    // Threads may still wait for peers that are gone: nothing is taken apart any more.
    std::cout.flush();
    std::fflush(nullptr);
    std::_Exit(code);
}
