#pragma once
// tests/golden/: what other programs, or earlier commits of this one, made of our own text. Its README names each file's origin.

#include <filesystem>
#include <stdexcept>

#include "core/concat.h"
#include "support/command.h"
#include "support/files.h"

namespace bertpretrain::testing {

inline std::filesystem::path golden_folder() { return std::filesystem::path(project_folder()) / "tests/golden"; }

/// The golden file of the sample text; one that is stored as NAME.bz2 is unpacked into a folder that lasts as long as the
/// process.
inline std::filesystem::path golden_sample(const std::string& name) {
    static const TemporaryFolder unpacked;
    const std::filesystem::path stored = golden_folder() / "sample" / name, packed = stored.string() + ".bz2",
                                plain = unpacked / name;
    if (std::filesystem::exists(stored)) return stored;
    if (std::filesystem::exists(plain)) return plain;
    const CommandResult result = run_command(
        concat("'", python(), "' -c 'import bz2, sys; open(sys.argv[2], \"wb\").write(bz2.open(sys.argv[1]).read())' ",
               packed.string(), " ", plain.string()));
    if (result.exit_code != 0)
        throw std::runtime_error(concat("golden file ", packed.string(), " cannot be unpacked: ", result.err));
    return plain;
}

}  // namespace bertpretrain::testing
