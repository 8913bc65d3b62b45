// bertpretrain_data: makes shards of training samples from a Wikipedia dump.

#include "command_line/program.h"
#include "commands.h"

#include "core/output/guard.h"
#include "shards/check/shard_probe.h"

int main(int argc, char** argv) {
    if (const std::optional<int> answered = bertpretrain::answer_probe(argc, argv)) return *answered;
    CLI::App app("Prepares training data from a Wikipedia dump: text, a vocabulary, and shards of training samples",
                 "bertpretrain_data");
    app.require_subcommand(0, 1);
    bertpretrain::add_extract_command(app);
    bertpretrain::add_deduplicate_command(app);
    bertpretrain::add_vocabulary_command(app);
    bertpretrain::add_tokenize_command(app);
    bertpretrain::add_shard_command(app);
    bertpretrain::add_join_command(app);
    bertpretrain::add_check_command(app);
    bertpretrain::add_show_command(app);
    bertpretrain::add_program_options(app, {});
    return bertpretrain::run_guarded([&] { return bertpretrain::parse_and_run(app, argc, argv); });
}
