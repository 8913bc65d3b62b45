#pragma once
// Where a value of the plan comes from.

#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace bertpretrain {

enum class Origin {
    default_value,  ///< neither the file nor the command line names it
    file,           ///< the experiment's file
    command_line,   ///< --set
    init_from,      ///< the model that initialization.init_from describes
    checkpoint,     ///< kept from the checkpoint that the run resumes from
    environment,    ///< a variable of this process
    automatic,      ///< decided by the program, with a reason
};

/// "default", "file", "--set", "init_from", "checkpoint", "environment", "auto".
std::string_view name_of(Origin origin);

/// The origin of each setting that a file, --set or init_from names, by its path: "section.key".
using Origins = std::map<std::string, Origin>;

/// One value of the plan.
struct PlannedValue {
    std::string path;              ///< "section.key"
    nlohmann::ordered_json value;  ///< null: to be measured when the run starts
    Origin origin = Origin::default_value;
    std::string reason;  ///< why the program decided so; empty for values that a person or a default gave
};

}  // namespace bertpretrain
