#include <filesystem>
#include <iostream>
#include <memory>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "summaries.h"

#include "core/strings.h"
#include "shards/build/join_parts.h"
#include "text/reader/join_text.h"

namespace bertpretrain {
namespace {

struct JoinRequest {
    std::filesystem::path output;
    bool json = false;
};

void join_extracted(const JoinRequest& request) {
    const ExtractCounts counts = join_text(request.output);
    if (counts.pages > 0) return print_summary(counts, request.json);
    if (request.json) std::cout << nlohmann::json({{"bytes_written", counts.bytes_written}}).dump() << std::endl;
    else std::cout << request.output.string() << ": " << bytes_text(counts.bytes_written) << "\n";
}

}  // namespace

void add_join_command(CLI::App& app) {
    CLI::App* const command = app.add_subcommand(
        "join", "Completes a folder of shards whose parts `shard --part` has made, or makes a text of those of `extract --part`");
    const auto request = std::make_shared<JoinRequest>();
    command->add_option("OUTPUT", request->output, "The parts' --output: a folder with shards, or a text file")->required();
    command->add_flag("--json", request->json, "Print the summary as a JSON object");
    command->callback([request] {
        if (std::filesystem::is_directory(request->output))
            print_summary(ShardBuildReport{.manifest = join_parts(request->output)}, request->json);
        else join_extracted(*request);
    });
}

}  // namespace bertpretrain
