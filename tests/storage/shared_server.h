#pragma once
// The server that the tests of this folder share; each test uses a folder of its own in the bucket.

#include <map>
#include <string>

#include "storage/object_store.h"
#include "support/object_server.h"
#include "support/skip.h"

namespace bertpretrain::testing {

inline ObjectServer& shared_server() {
    static ObjectServer one;
    return one;
}

/// Sets faults until the end of a test.
class Faults {
public:
    explicit Faults(const std::string& json) { shared_server().set_faults(json); }
    ~Faults() { shared_server().set_faults("[]"); }
    Faults(const Faults&) = delete;
    Faults& operator=(const Faults&) = delete;
};

inline StorageSettings quick_settings(double give_up_seconds = 20) {
    return {.stall_seconds = 1, .give_up_seconds = give_up_seconds, .warn = [](const std::string&) {}};
}

inline ObjectStore shared_store(const std::string& folder, const std::map<std::string, std::string>& variables,
                                double give_up_seconds = 20, std::uint64_t part_bytes = 2000) {
    return ObjectStore(parse_object_url("s3://bucket/" + folder, "a test"), credentials_by(variables),
                       quick_settings(give_up_seconds), part_bytes);
}

}  // namespace bertpretrain::testing
