#include "commands.h"

#include <iostream>
#include <memory>

#include <nlohmann/json.hpp>

#include "input_options.h"

#include "core/output/table.h"
#include "core/strings.h"
#include "text/reader/extract.h"

namespace bertpretrain {
namespace {

void print(const ExtractCounts& counts) {
    Table table({"extracted", ""});
    table.add({"documents", with_thousands(counts.pages)});
    table.add({"documents kept", with_thousands(counts.articles)});
    table.add({"redirects", with_thousands(counts.redirects)});
    table.add({"other namespaces", with_thousands(counts.other_pages)});
    table.add({"too short", with_thousands(counts.short_articles)});
    table.add({"malformed records", with_thousands(counts.bad_records)});
    table.add({"sentences", with_thousands(counts.sentences)});
    table.add({"bytes read", with_thousands(static_cast<std::int64_t>(counts.bytes_read))});
    table.add({"bytes written", with_thousands(static_cast<std::int64_t>(counts.bytes_written))});
    table.add({"seconds", fixed(counts.seconds, 1)});
    std::cout << table.text();
}

void print_as_json(const ExtractCounts& counts) {
    const nlohmann::ordered_json json = {{"documents", counts.pages},
                                         {"documents_kept", counts.articles},
                                         {"redirects", counts.redirects},
                                         {"other_namespaces", counts.other_pages},
                                         {"too_short", counts.short_articles},
                                         {"malformed_records", counts.bad_records},
                                         {"sentences", counts.sentences},
                                         {"bytes_read", counts.bytes_read},
                                         {"bytes_written", counts.bytes_written},
                                         {"seconds", counts.seconds}};
    std::cout << json.dump() << std::endl;
}

}  // namespace

void add_extract_command(CLI::App& app) {
    CLI::App* command = app.add_subcommand(
        "extract",
        "Extracts text from documents, such as Wikipedia dumps: one sentence per line, an empty line after each document");
    auto settings = std::make_shared<ExtractSettings>();
    command->add_option("--output", settings->output, "Text file to write; it appears only when it is complete")->required();
    command->add_option("--minimum-sentences", settings->minimum_sentences, "Omit documents with fewer sentences than this")
        ->capture_default_str()
        ->check(CLI::NonNegativeNumber);
    const InputOptions options(*command, "INPUT", settings->inputs, settings->reading);
    command->add_option("--threads", settings->threads, "Number of threads; the output does not depend on it")
        ->capture_default_str()
        ->check(CLI::Range(1, 1024));
    const auto json = std::make_shared<bool>(false);
    command->add_flag("--json", *json, "Print the counts as a JSON object");
    command->callback([settings, options, json] {
        options.finish();
        options.require_inputs();
        (*json ? print_as_json : print)(extract(*settings));
    });
}

}  // namespace bertpretrain
