#pragma once
// Replacements of the clouds' command lines, which only record their calls.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <utility>

#include "core/error.h"
#include "support/command.h"

namespace bertpretrain::testing {

inline const std::filesystem::path launch_folder = std::filesystem::path(PROJECT_FOLDER) / "scripts/launch";

/// fill.sh refuses the placeholders of parameters.sh, so that all scripts of this test program have other values.
inline const bool has_own_values = [] {
    for (const auto& [name, value] : std::initializer_list<std::pair<const char*, const char*>>{
             {"REGISTRY", "111122223333.dkr.ecr.us-east-1.amazonaws.com"},
             {"BUCKET", "our-bucket"},
             {"SUBNET", "subnet-11112222"},
             {"SECURITY_GROUP", "sg-11112222"},
             {"INSTANCE_PROFILE", "arn:aws:iam::111122223333:instance-profile/ecsInstanceRole"},
             {"FILE_SYSTEM", "fs-11112222333344445"}})
        ::setenv(name, value, 0);
    return true;
}();

/// Replaces kubectl, eksctl, helm and aws: each call becomes a line of calls(), and runs the shell code `answers`. The checkout
/// has a name that shells misread, and the scripts start in another folder.
class StandIns {
public:
    explicit StandIns(const std::string& answers) {
        const std::string script = concat("#!/usr/bin/env bash\ncommand=\"$(basename \"$0\") $*\"\necho \"$command\" >>'",
                                          (folder_ / "calls").string(), "'\n", answers, "\nexit 0\n");
        for (const std::string name : {"kubectl", "eksctl", "helm", "aws", "docker"}) {
            write_text(folder_ / name, script);
            std::filesystem::permissions(folder_ / name, std::filesystem::perms::owner_all);
        }
        std::filesystem::create_directory_symlink(PROJECT_FOLDER, folder_ / checkout);
    }

    /// Runs a launch script with `typed` on its standard input.
    CommandResult run(const std::string& script, const std::string& typed = "") const {
        return run_command(concat("echo '", typed, "' | ", command(script)));
    }
    std::string command(const std::string& script) const {
        return concat("PATH='", folder_.path().string(), "':$PATH env -C '", folder_.path().string(), "' '",
                      (folder_ / checkout / "scripts/launch" / script.substr(0, script.find(' '))).string(), "'",
                      script.substr(std::min(script.find(' '), script.size())));
    }
    std::string calls() const { return read_text(folder_ / "calls"); }

private:
    static constexpr const char* checkout = " a \"$HOME\" `id` *?[a]\n; # ü ";
    TemporaryFolder folder_;
};

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace bertpretrain::testing
