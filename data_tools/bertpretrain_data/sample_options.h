#pragma once
// The options of `shard` that decide what rows contain: SampleSettings.

#include <CLI/CLI.hpp>

#include "shards/manifest.h"

namespace bertpretrain {

class SampleOptions {
public:
    /// Adds the options to `command`. @param settings holds the defaults, receives the values and must outlive the command
    SampleOptions(CLI::App& command, SampleSettings& settings);

    /// Fills in the defaults that depend on other options, after the command line was read. Warns if rows would have fewer masked
    /// tokens than asked for.
    void resolve(SampleSettings& settings) const;

private:
    void add_counts(CLI::App& command, SampleSettings& settings);
    void add_rules(CLI::App& command, SampleSettings& settings);

    const CLI::Option *max_predictions_ = nullptr, *duplicate_factor_ = nullptr, *short_sequences_ = nullptr, *rules_ = nullptr,
                      *cased_ = nullptr;
};

}  // namespace bertpretrain
