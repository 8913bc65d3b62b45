// bertpretrain_data: from a Wikipedia dump to shards of training samples.

#include "commands.h"

#include "core/error.h"
#include "core/guard.h"
#include "shards/shard_probe.h"

int main(int argc, char** argv) {
    if (const std::optional<int> answered = bertpretrain::answer_probe(argc, argv)) return *answered;
    CLI::App app("Prepares training data: dump -> text -> vocabulary -> shards", "bertpretrain_data");
    app.require_subcommand(0, 1);  // one too few is reported below, where a misspelt one is named
    bertpretrain::add_extract_command(app);
    bertpretrain::add_vocabulary_command(app);
    bertpretrain::add_tokenize_command(app);
    bertpretrain::add_shard_command(app);
    bertpretrain::add_check_command(app);
    return bertpretrain::run_guarded([&] {
        try {
            app.parse(argc, argv);
            if (app.get_subcommands().empty()) throw bertpretrain::ConfigError("a subcommand is missing; --help lists them");
        } catch (const CLI::ParseError& error) {
            return app.exit(error) == 0 ? 0 : static_cast<int>(bertpretrain::ExitCode::config);
        }
        return 0;
    });
}
