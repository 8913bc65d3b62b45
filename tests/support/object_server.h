#pragma once
// A real S3-compatible server (moto's) with faults, for tests.

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "storage/aws_credentials.h"
#include "support/command.h"
#include "support/files.h"
#include "support/folders.h"
#include "support/process.h"

namespace bertpretrain::testing {

/// moto's server with the bucket "bucket" and a proxy that injects faults (object_server.py), both on the loopback interface.
class ObjectServer {
public:
    ObjectServer()
        : process_("sh -c \"exec " + python() + " tests/support/object_server.py " + folder_.path().string() + " > " +
                   (folder_ / "ports").string() + " 2> " + (folder_ / "errors").string() + "\"") {
        std::string ports;
        wait_until(process_, [&] { return (ports = read_text(folder_ / "ports")).ends_with('\n'); });
        std::istringstream(ports) >> moto_port_ >> proxy_port_;
        ::setenv("no_proxy", "127.0.0.1", 1);
    }

    /// Whether the server started; if not, errors() has the reason.
    bool runs() const { return proxy_port_ != 0; }
    std::string errors() const { return read_text(folder_ / "errors"); }

    /// The store without faults, and through the faulty proxy.
    std::string plain_endpoint() const { return "http://127.0.0.1:" + std::to_string(moto_port_); }
    std::string endpoint() const { return "http://127.0.0.1:" + std::to_string(proxy_port_); }

    /// @param json the list that object_server.py describes
    void set_faults(const std::string& json) const {
        write_text(folder_ / "new_faults.json", json);
        std::filesystem::rename(folder_ / "new_faults.json", folder_ / "faults.json");
    }

    /// What the metadata service answers from now on. @param seconds for which the credentials are valid
    void set_instance_credentials(const std::string& key, int seconds) const {
        write_text(folder_ / "new_imds.json", R"({"key": ")" + key + R"(", "seconds": )" + std::to_string(seconds) + "}");
        std::filesystem::rename(folder_ / "new_imds.json", folder_ / "imds.json");
    }

    /// Copies a folder's files into the bucket, past the faults. @returns whether it succeeded
    bool put_folder(const std::filesystem::path& folder, const std::string& name) const {
        std::string command;
        for (const auto& file : std::filesystem::directory_iterator(folder))
            command +=
                "curl -sf --noproxy '*' -H 'Authorization: AWS4-HMAC-SHA256 "
                "Credential=key/20260101/us-east-1/s3/aws4_request' -T " +
                file.path().string() + " " + plain_endpoint() + "/bucket/" + name + "/" + file.path().filename().string() +
                " && ";
        return run_command(command + "true").exit_code == 0;
    }

    /// Lines "METHOD PATH RANGE FAULT" of the requests so far.
    std::vector<std::string> requests() const {
        std::vector<std::string> lines;
        std::ifstream in(folder_ / "requests.log");
        for (std::string line; std::getline(in, line);) lines.push_back(line);
        return lines;
    }
    std::size_t count(const std::string& part) const {
        std::size_t found = 0;
        for (const std::string& line : requests())
            if (line.find(part) != line.npos) ++found;
        return found;
    }

    /// The environment of a program that uses the store.
    std::map<std::string, std::string> variables() const {
        return {{"AWS_ENDPOINT_URL", endpoint()},
                {"AWS_ACCESS_KEY_ID", "key"},
                {"AWS_SECRET_ACCESS_KEY", "verysecret"},
                {"AWS_REGION", "us-east-1"}};
    }
    /// The same, but with the credentials of the instance's metadata service, which the proxy serves.
    std::map<std::string, std::string> instance_variables() const {
        return {{"AWS_ENDPOINT_URL", endpoint()},
                {"AWS_EC2_METADATA_SERVICE_ENDPOINT", endpoint()},
                {"AWS_REGION", "us-east-1"},
                {"HOME", folder_.path().string()}};
    }
    /// variables() as "NAME=VALUE NAME=VALUE ", to begin a command with.
    std::string environment() const {
        std::string text = "env no_proxy=127.0.0.1 ";
        for (const auto& [name, value] : variables()) text += name + "=" + value + " ";
        return text;
    }

private:
    TemporaryFolder folder_;
    Process process_;
    int moto_port_ = 0, proxy_port_ = 0;
};

/// Looks up variables in a map.
inline std::function<std::optional<std::string>(const std::string&)> lookup(std::map<std::string, std::string> values) {
    return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
        const auto found = values.find(name);
        return found == values.end() ? std::nullopt : std::optional(found->second);
    };
}

/// Credentials by variables of a map instead of the environment's.
inline std::shared_ptr<AwsCredentialSource> credentials_by(std::map<std::string, std::string> values) {
    return std::make_shared<AwsCredentialSource>(lookup(std::move(values)));
}

}  // namespace bertpretrain::testing

/// Skips the test if moto's server is not installed.
#define NEEDS_OBJECT_SERVER(server) \
    if (!(server).runs()) SKIP_TEST(bertpretrain::testing::skip::no_oracle, "moto's server does not start: " + (server).errors())
