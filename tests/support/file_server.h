#pragma once
// HTTP servers of a folder's files, one of which is a hub of datasets, for tests.

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "support/files.h"
#include "support/folders.h"
#include "support/process.h"

namespace bertpretrain::testing {

/// The servers of file_server.py on the loopback interface.
class FileServer {
public:
    FileServer()
        : process_("sh -c \"exec " + python() + " tests/support/file_server.py " + folder_.path().string() + " > " +
                   (folder_ / "ports").string() + " 2> " + (folder_ / "errors").string() + "\"") {
        std::filesystem::create_directory(folder_ / "files");
        std::string ports;
        wait_until(process_, [&] { return (ports = read_text(folder_ / "ports")).ends_with('\n'); });
        std::istringstream(ports) >> port_ >> other_port_;
        ::setenv("no_proxy", "127.0.0.1", 1);
    }

    /// The local copy of what "/files/NAME" serves.
    std::filesystem::path file(const std::string& name) const { return folder_ / ("files/" + name); }
    void put(const std::string& name, const std::string& content) const {
        std::filesystem::create_directories(file(name).parent_path());
        write_text(file(name), content);
    }
    /// The address of a path such as "/whole/NAME".
    std::string at(const std::string& path) const { return endpoint() + path; }
    std::string endpoint() const { return "http://127.0.0.1:" + std::to_string(port_); }

    /// The number of requests so far whose line "SERVER METHOD PATH RANGE TOKEN" has `part`.
    std::size_t count(const std::string& part) const {
        std::ifstream in(folder_ / "requests.log");
        std::size_t found = 0;
        for (std::string line; std::getline(in, line);)
            if (line.find(part) != line.npos) ++found;
        return found;
    }

    /// The environment of a program that uses the hub with its token.
    std::map<std::string, std::string> variables() const { return {{"HF_ENDPOINT", endpoint()}, {"HF_TOKEN", "verysecret"}}; }

private:
    TemporaryFolder folder_;
    Process process_;
    int port_ = 0, other_port_ = 0;
};

}  // namespace bertpretrain::testing
