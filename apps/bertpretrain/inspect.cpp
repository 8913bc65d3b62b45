// bertpretrain inspect PATH [--verify]

#include <iostream>
#include <memory>
#include <string>

#include "commands.h"

#include "checkpoint/checkpoint_health.h"
#include "checkpoint/checkpoint_reader.h"
#include "checkpoint/checkpoint_store.h"
#include "core/error.h"
#include "core/strings.h"
#include "core/table.h"

namespace bertpretrain {
namespace {

struct InspectArguments {
    std::string path;
    bool verify = false;
};

/// Every checkpoint that the path means, with what is wrong with it. @throws CheckpointError when anything is
void verify(const std::filesystem::path& path) {
    Table table({"checkpoint", "bytes checked", "state"});
    std::string damages;
    for (const std::filesystem::path& folder : step_folders(path)) {
        const CheckpointHealth health = examine_checkpoint(folder);
        table.add({folder.string(), with_thousands(static_cast<std::int64_t>(health.bytes)),
                   health.damage.empty() ? "whole" : "damaged"});
        if (!health.damage.empty()) damages += (damages.empty() ? "" : "\n") + health.damage;
    }
    std::cout << table.text() << std::flush;
    if (!damages.empty()) throw CheckpointError(concat(path.string(), ": not everything is whole\n", damages));
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
    std::vector<std::string> sizes;
    for (const std::int64_t size : shape) sizes.push_back(std::to_string(size));
    return "[" + join(sizes) + "]";
}

void show(const std::filesystem::path& path) {
    const CheckpointReader reader(resolve_checkpoint(path), CheckpointReader::Verify::sizes);
    std::cout << "checkpoint  " << reader.folder().string() << "\nstep        " << reader.step() << "\nmoments     "
              << join(reader.moment_names()) << "\n\n";
    Table table({"tensor", "shape"});
    for (const TensorDescription& tensor : reader.parameters()) table.add({tensor.name, shape_text(tensor.shape)});
    std::cout << table.text() << std::flush;
}

}  // namespace

void add_inspect_command(CLI::App& app) {
    const auto arguments = std::make_shared<InspectArguments>();
    CLI::App* command = app.add_subcommand("inspect", "Shows what a checkpoint holds");
    command->add_option("path", arguments->path, "A step's folder, or a run: then its newest checkpoint")->required();
    command->add_flag("--verify", arguments->verify,
                      "Read everything and compare all checksums, of a run in all its checkpoints; exit 4 on damage");
    command->callback([arguments] { arguments->verify ? verify(arguments->path) : show(arguments->path); });
}

}  // namespace bertpretrain
