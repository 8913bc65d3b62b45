#pragma once
// A part of a JSON file that knows where it is, for strict reading: what is not understood is refused by name.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace bertpretrain {

/// A view of a JSON value and its path. The value must outlive it.
class JsonPart {
public:
    /// @param file begins messages  @param path of the value in the file, e.g. "model.vocab"; empty: the whole file
    JsonPart(const nlohmann::json& value, std::string file, std::string path = "")
        : value_(value), file_(std::move(file)), path_(std::move(path)) {}

    const nlohmann::json& value() const { return value_; }
    /// Returns "FILE: PATH", which begins messages.
    std::string where() const { return path_.empty() ? file_ : file_ + ": " + path_; }

    /// @throws DataError "FILE: PATH: MESSAGE"
    [[noreturn]] void refuse(const std::string& message) const;

    /// @throws DataError if this is not an object, or has a member that is not listed
    void allow(std::initializer_list<std::string_view> names) const;

    /// Returns a member, or nullopt if it is absent or null.
    std::optional<JsonPart> find(const std::string& name) const;
    /// Returns a member. @throws DataError if it is absent or null
    JsonPart at(const std::string& name) const;
    /// Returns the elements of this array. @throws DataError if it is not one
    std::vector<JsonPart> elements() const;

    /// Return this value. @throws DataError if it has another type
    std::string text() const;
    bool flag() const;
    std::int64_t integer() const;

    /// Return a member, or `absent` if it is absent or null. @throws DataError if it has another type
    std::string text(const std::string& name, const std::string& absent) const;
    bool flag(const std::string& name, bool absent) const;

    /// @throws DataError unless the member is absent, null or `expected`
    void require(const std::string& name, const nlohmann::json& expected) const;

private:
    const nlohmann::json& value_;
    std::string file_, path_;
};

}  // namespace bertpretrain
