#include <memory>
#include <string>

#include "commands.h"
#include "input_options.h"
#include "summaries.h"

#include "text/reader/extract_part.h"

namespace bertpretrain {

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
    const auto part = std::make_shared<std::string>();
    command->add_option("--part", *part,
                        "I/N: read only part I of N of the input files, consecutive ones of about equally many bytes. Several "
                        "processes or hosts make the parts, and `bertpretrain_data join OUTPUT` makes the text of them, with the "
                        "same bytes as without parts. A file, such as one large dump, is not divided");
    const auto json = std::make_shared<bool>(false);
    command->add_flag("--json", *json, "Print the counts as a JSON object");
    command->callback([settings, options, part, json] {
        options.finish();
        options.require_inputs();
        options.require_not_list(settings->output);
        const Part asked = part->empty() ? Part() : parse_part(*part);
        const ExtractCounts counts = asked.is_whole() ? extract(*settings) : extract_part(*settings, asked);
        print_summary(counts, *json);
    });
}

}  // namespace bertpretrain
