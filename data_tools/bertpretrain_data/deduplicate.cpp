#include "deduplication/deduplicate.h"

#include <iostream>
#include <memory>

#include "commands.h"
#include "input_options.h"

namespace bertpretrain {

void add_deduplicate_command(CLI::App& app) {
    CLI::App* command = app.add_subcommand(
        "deduplicate", "Removes equal documents, near-duplicates and, if asked, repeated sentences; the first ones stay");
    const auto settings = std::make_shared<DeduplicationSettings>();
    const auto exact_only = std::make_shared<bool>(false);
    command
        ->add_option("--output", settings->output,
                     "Folder to write text.txt, duplicates.tsv (each removed document), report.json and report.txt to")
        ->required();
    command
        ->add_option("--threshold", settings->threshold,
                     "Smallest Jaccard similarity of two documents' sets of shingles that makes them near-duplicates")
        ->capture_default_str()
        ->check(CLI::Range(0.3, 1.0));
    command->add_option("--shingle-words", settings->shingle_words, "Number of consecutive words in a shingle")
        ->capture_default_str()
        ->check(CLI::Range(1, 100));
    command->add_flag("--exact-only", *exact_only,
                      "Remove no near-duplicates, only documents with the same words in the same order");
    command
        ->add_option("--sentence-limit", settings->sentence_limit,
                     "Keep only the first place of a sentence that occurs more often than this; 0 keeps all sentences")
        ->capture_default_str()
        ->check(CLI::Range(0, 1'000'000));
    command
        ->add_option(
            "--memory", settings->memory,
            "Memory to use, e.g. 2GiB, at least 64MiB; what does not fit is sorted in temporary files in the output folder. "
            "The output does not depend on it")
        ->transform(CLI::AsSizeValue(false))
        ->default_str("2GiB");
    command->add_option("--examples", settings->examples, "Number of examples of each kind in the reports")
        ->capture_default_str()
        ->check(CLI::Range(0, 1000));
    const InputOptions options(*command, "TEXT", settings->inputs, settings->reading);
    command->add_option("--threads", settings->threads, "Number of threads; the output does not depend on it")
        ->capture_default_str()
        ->check(CLI::Range(1, 1024));
    const auto json = std::make_shared<bool>(false);
    command->add_flag("--json", *json, "Print what report.json contains");
    command->callback([settings, exact_only, options, json] {
        options.finish();
        options.require_inputs();
        settings->near = !*exact_only;
        const DeduplicationReport report = deduplicate(*settings);
        std::cout << (*json ? report_json(report) : report_text(report)) << std::flush;
    });
}

}  // namespace bertpretrain
