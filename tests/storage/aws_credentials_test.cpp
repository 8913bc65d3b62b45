// Where credentials come from.

#include "storage/aws_credentials.h"
#include "core/error.h"
#include "storage/aws_profile.h"
#include "support/catch.h"
#include "support/object_server.h"
#include "support/skip.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// The services that give credentials to containers and instances.
class MetadataServer {
public:
    MetadataServer() : process_("sh -c \"exec python3 tests/storage/metadata_server.py > " + (folder_ / "port").string() + "\"") {
        wait_until(process_, [&] { return read_text(folder_ / "port").ends_with('\n'); });
        const std::string port = read_text(folder_ / "port");
        url_ = "http://127.0.0.1:" + port.substr(0, port.find('\n'));
        ::setenv("no_proxy", "127.0.0.1", 1);
    }
    const std::string& url() const { return url_; }

private:
    TemporaryFolder folder_;
    Process process_;
    std::string url_;
};

AwsCredentials found(std::map<std::string, std::string> variables) {
    return AwsCredentialSource(lookup(std::move(variables))).get();
}

}  // namespace

TEST_CASE("credentials come from the environment first, then from the profile's file") {
    const TemporaryFolder folder;
    write_text(folder / "credentials",
               "[default]\naws_access_key_id = of-file\naws_secret_access_key=s\n# no\n\n[night]\naws_access_key_id = of-night\n"
               "aws_secret_access_key = s2\naws_session_token = t2\n");
    write_text(folder / "config", "[profile night]\nregion = eu-central-1\n");
    std::map<std::string, std::string> variables{{"AWS_SHARED_CREDENTIALS_FILE", (folder / "credentials").string()},
                                                 {"AWS_CONFIG_FILE", (folder / "config").string()}};
    CHECK(found(variables).key_id == "of-file");
    CHECK(aws_region(lookup(variables)) == "us-east-1");
    variables["AWS_PROFILE"] = "night";
    CHECK(found(variables).key_id == "of-night");
    CHECK(found(variables).session_token == "t2");
    CHECK(aws_region(lookup(variables)) == "eu-central-1");
    variables.insert({{"AWS_ACCESS_KEY_ID", "of-environment"}, {"AWS_SECRET_ACCESS_KEY", "s"}});
    CHECK(found(variables).key_id == "of-environment");
}

TEST_CASE("credentials come from a container's endpoint, with the token that the platform gave") {
    const MetadataServer server;
    const TemporaryFolder folder;
    write_text(folder / "token", "a-task-token\n");
    std::map<std::string, std::string> variables{{"AWS_CONTAINER_CREDENTIALS_FULL_URI", server.url() + "/task"},
                                                 {"HOME", folder.path().string()},
                                                 {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", (folder / "token").string()}};
    const AwsCredentials credentials = found(variables);
    CHECK(credentials.key_id == "of-task");
    CHECK(credentials.session_token == "t");
    CHECK(credentials.expires == 4'070'908'800);
    write_text(folder / "token", "another\n");
    CHECK_THROWS_AS(found(variables), DistributedError);
}

TEST_CASE("credentials come from a web identity, by the token service") {
    const ObjectServer server;  // moto's, which has this service too
    NEEDS_OBJECT_SERVER(server);
    const TemporaryFolder folder;
    write_text(folder / "token", "a.web.token\n");
    const std::map<std::string, std::string> variables{{"AWS_WEB_IDENTITY_TOKEN_FILE", (folder / "token").string()},
                                                       {"AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/training"},
                                                       {"AWS_ENDPOINT_URL_STS", server.plain_endpoint()},
                                                       {"HOME", folder.path().string()}};
    const AwsCredentials credentials = found(variables);
    CHECK(credentials.key_id.starts_with("ASIA"));
    CHECK(!credentials.session_token.empty());
    CHECK(credentials.expires > 1.7e9);
}

TEST_CASE("credentials come from the instance's metadata service, version 2; without any source, the error lists them") {
    const MetadataServer server;
    const TemporaryFolder folder;
    std::map<std::string, std::string> variables{{"AWS_EC2_METADATA_SERVICE_ENDPOINT", server.url()},
                                                 {"HOME", folder.path().string()}};
    CHECK(found(variables).key_id == "of-instance");
    variables["AWS_EC2_METADATA_DISABLED"] = "true";
    CHECK_THROWS_WITH(found(variables), Catch::Contains("no credentials were found in AWS_ACCESS_KEY_ID"));
}
