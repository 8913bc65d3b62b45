#include <iostream>

#include "check_report.h"
#include "commands.h"

#include "core/error.h"
#include "core/files/files.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "core/threads/threads.h"
#include "shards/check/shard_checker.h"

namespace bertpretrain {
namespace {

struct Options {
    std::string folder, vocabulary, page;
    bool as_json = false;
    std::size_t threads = 0;
};

void run(const Options& options) {
    const std::string& folder = options.folder;
    const auto file = options.vocabulary.empty() ? std::nullopt : std::optional<std::filesystem::path>(options.vocabulary);
    const FolderReport report = check_shard_folder(folder, file, options.threads > 0 ? options.threads : available_cores());
    if (!report.vocabulary_size)
        log_warning(concat(folder, ": no vocabulary was found, so ids were not checked against its size; use --vocabulary"));
    if (!report.has_manifest) log_warning(concat(folder, ": has no manifest.json, so checksums were not compared"));
    for (const std::string& warning : report.warnings) log_warning(concat(folder, ": ", warning));
    if (!options.page.empty()) write_atomically(options.page, check_page(report, folder));
    std::cout << (options.as_json ? check_json(report, folder) : check_table(report));
    std::cout.flush();
    if (report.problems.empty()) return;
    throw DataError(concat(folder, ": ", report.problems.size(), report.problems.size() == 1 ? " problem" : " problems", "\n- ",
                           join(report.problems, "\n- ")));
}

}  // namespace

void add_check_command(CLI::App& app) {
    CLI::App* command =
        app.add_subcommand("check", "Checks every row of a folder of shards, and reports its content and all problems");
    const auto options = std::make_shared<Options>();
    command->add_option("DIR", options->folder, "Folder of .h5 or .hdf5 shards, made by this program or by NVIDIA's script")
        ->required();
    command->add_option("--vocabulary", options->vocabulary,
                        "Vocabulary or tokenizer.json that the shards were made with; default: the one in DIR");
    command->add_option("--threads", options->threads, "Number of threads; 0 means one per core")->capture_default_str();
    command->add_flag("--json", options->as_json, "Print one JSON object instead of a table");
    command->add_option("--html", options->page, "Also write a self-contained HTML page with tables and histograms to this file");
    command->callback([options] { run(*options); });
}

}  // namespace bertpretrain
