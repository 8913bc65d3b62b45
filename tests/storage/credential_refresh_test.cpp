// Services of credentials that fail for a moment.

#include "core/error.h"
#include "storage/aws_credentials.h"
#include "storage/shared_server.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// A service account's role, by moto's token service through the proxy.
std::map<std::string, std::string> web_identity(const TemporaryFolder& folder) {
    write_text(folder / "token", "a.web.token\n");
    auto variables = shared_server().instance_variables();
    variables.insert({{"AWS_WEB_IDENTITY_TOKEN_FILE", (folder / "token").string()},
                      {"AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/training"},
                      {"AWS_EC2_METADATA_DISABLED", "true"}});
    return variables;
}

std::string failure_of(ObjectStore& store) {
    try {
        store.read("file");
        return "";
    } catch (const DistributedError& error) { return error.what(); }
}

}  // namespace

TEST_CASE("credentials that are still valid are used when their renewal fails") {
    NEEDS_OBJECT_SERVER(shared_server());
    AwsCredentialSource source(lookup(shared_server().instance_variables()));
    shared_server().set_instance_credentials("first", 240);  // within the five minutes before they expire
    CHECK(source.get().key_id == "first");
    for (const std::string fault : {R"("503")", R"("refused")", R"("error", "status": 404)", R"("wrong")"}) {
        const Faults faults(R"([{"contains": "/latest/", "fault": )" + fault + "}]");
        CHECK(source.get().key_id == "first");
    }
    shared_server().set_instance_credentials("second", 3600);
    source.forget();
    CHECK(source.get().key_id == "second");
}

TEST_CASE("failures of the instance's metadata service that may pass are repeated", "[system]") {
    NEEDS_OBJECT_SERVER(shared_server());
    shared_server().set_instance_credentials("of-imds", 3600);
    for (const std::string path : {"/latest/api/token", "/latest/meta-data/iam/security-credentials/", "credentials/training"})
        for (const std::string fault : {R"("503")", R"("refused")", R"("error", "status": 401)", R"("error", "status": 429)"}) {
            INFO(path + " " + fault);
            const Faults faults(R"([{"times": 1, "contains": ")" + path + R"(", "fault": )" + fault + "}]");
            ObjectStore store = shared_store("passing", shared_server().instance_variables());
            CHECK(failure_of(store) == "");
        }
}

TEST_CASE("failures of the token service that may pass are repeated", "[system]") {
    NEEDS_OBJECT_SERVER(shared_server());
    const TemporaryFolder folder;
    for (const std::string fault : {R"("503")", R"("refused")", R"("error", "code": "Throttling")",
                                    R"("error", "code": "IDPCommunicationError")", R"("error", "status": 500)"}) {
        INFO(fault);
        const Faults faults(R"([{"times": 2, "method": "POST", "fault": )" + fault + "}]");
        ObjectStore store = shared_store("passing", web_identity(folder));
        CHECK(failure_of(store) == "");
    }
}

TEST_CASE("a service of credentials that goes on failing ends in an error of the network that names it") {
    NEEDS_OBJECT_SERVER(shared_server());
    const TemporaryFolder folder;
    const Faults faults(
        R"([{"contains": "/latest/", "fault": "503"}, {"method": "POST", "fault": "error", "code": "Throttling"}])");
    ObjectStore of_instance = shared_store("x", shared_server().instance_variables(), 0.2);
    CHECK_THAT(failure_of(of_instance), Catch::Contains("/latest/api/token") && Catch::Contains("503"));
    ObjectStore of_role = shared_store("x", web_identity(folder), 0.2);
    CHECK_THAT(failure_of(of_role), Catch::Contains("AWS_WEB_IDENTITY_TOKEN_FILE") && Catch::Contains("Throttling"));
}

TEST_CASE("a refusal of a service of credentials is reported at once, as an error of the request") {
    NEEDS_OBJECT_SERVER(shared_server());
    const TemporaryFolder folder;
    const Faults faults(R"([{"contains": "security-credentials", "fault": "error", "status": 404},
                            {"method": "POST", "fault": "error", "status": 403, "code": "AccessDenied"}])");
    ObjectStore of_instance = shared_store("x", shared_server().instance_variables());
    CHECK_THROWS_WITH(of_instance.read("file"), Catch::Contains("no credentials were found"));
    ObjectStore of_role = shared_store("x", web_identity(folder));
    CHECK_THROWS_WITH(of_role.read("file"), Catch::Contains("AccessDenied") && Catch::Contains("trusts this service account"));
    CHECK_THROWS_AS(of_role.read("file"), ConfigError);
}

TEST_CASE(
    "stores that use the process's environment look for credentials once, and a later failure of their service does not matter") {
    NEEDS_OBJECT_SERVER(shared_server());
    std::map<std::string, std::optional<std::string>> before;
    for (const auto& [name, value] : shared_server().instance_variables()) {
        before[name] = environment_variable(name);
        ::setenv(name.c_str(), value.c_str(), 1);
    }
    const auto open_and_write = [] { ObjectStore(parse_object_url("s3://bucket/shared", "a test")).write("small", "small"); };
    const std::size_t asked = shared_server().count("/latest/");
    open_and_write();
    CHECK(shared_server().count("/latest/") == asked + 3);  // a session, the role, its credentials
    {
        const Faults faults(R"([{"contains": "/latest/", "fault": "error", "status": 404}])");
        CHECK_NOTHROW(open_and_write());
    }
    CHECK(shared_server().count("/latest/") == asked + 3);
    for (const auto& [name, value] : before) value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
}

TEST_CASE("expired credentials in variables end at once, because they cannot be renewed, and others are looked up again") {
    NEEDS_OBJECT_SERVER(shared_server());
    const Faults faults(R"([{"contains": "expired/", "fault": "error", "code": "ExpiredToken"}])");
    ObjectStore store = shared_store("expired", shared_server().variables(), 2);
    CHECK_THROWS_MATCHES(store.read("file"), ConfigError, Catch::Predicate<ConfigError>([](const ConfigError& error) {
                             const std::string message = error.what();
                             return message.find("ExpiredToken") != message.npos &&
                                    message.find("AWS_SESSION_TOKEN") != message.npos;
                         }));
    CHECK(shared_server().count("/expired/file ") == 1);
    shared_server().set_instance_credentials("again", 3600);
    ObjectStore of_instance = shared_store("expired", shared_server().instance_variables(), 0.2);
    CHECK(failure_of(of_instance).find("ExpiredToken") != std::string::npos);
}
