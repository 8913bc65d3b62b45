#pragma once
// What the fields of another program's JSON file change here, as a table: no field that has an effect there passes unnoticed.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace bertpretrain {

struct ForeignField {
    enum class Effect {
        obeyed,   ///< the reader of the file does what the field says
        nothing,  ///< no value of it changes ids, vectors or probabilities
        refused,  ///< changes them in a way that is not supported, unless it has a value of `harmless`
    };
    std::string_view name;
    Effect effect = Effect::nothing;
    /// A JSON array of the values that change nothing, as null and a missing field do.
    std::string_view harmless = "[]";
};

/// Calls `refuse` with a message for the first field that is refused by the table and has a value that is not harmless.
/// @param refuse throws an error that names the file
/// @returns the names of fields that are not in the table
std::vector<std::string> check_foreign_fields(const nlohmann::json& object, std::span<const ForeignField> table,
                                              const std::function<void(const std::string& message)>& refuse);

}  // namespace bertpretrain
