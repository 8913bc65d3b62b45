#include "storage/hub_dataset.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "core/error.h"

namespace bertpretrain {
namespace {

constexpr std::string_view scheme = "hf://", datasets = "hf://datasets/";

[[noreturn]] void refuse_hub_address(const std::string& text, std::string_view why) {
    throw ConfigError(concat("input = \"", text, "\": ", why, "\n  do: write hf://datasets/OWNER/NAME/PATH, or ",
                             "hf://datasets/OWNER/NAME@REVISION/PATH"));
}

/// Returns the part of `text` before its n-th slash, and removes it and that slash from `text`.
std::string take_parts(std::string_view& text, int parts) {
    std::size_t end = 0;
    for (; parts > 0 && end != text.npos; --parts) end = text.find('/', end + (end > 0 ? 1 : 0));
    const std::string taken(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), taken.size() + 1));
    return taken;
}

/// Returns a file's text without white space at its ends; "" where it cannot be read.
std::string text_of_token_file(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    constexpr const char* white_space = " \t\r\n";
    const std::size_t first = text.find_first_not_of(white_space);
    return first == text.npos ? "" : text.substr(first, text.find_last_not_of(white_space) + 1 - first);
}

std::string hub_token(const Variables& variables) {
    if (const auto token = variables("HF_TOKEN")) return *token;
    if (const auto file = variables("HF_TOKEN_PATH")) return text_of_token_file(*file);
    if (const auto folder = variables("HF_HOME")) return text_of_token_file(std::filesystem::path(*folder) / "token");
    const auto home = variables("HOME");
    return home ? text_of_token_file(std::filesystem::path(*home) / ".cache/huggingface/token") : "";
}

ObjectUrl hub_endpoint(const Variables& variables) {
    return parse_object_url(variables("HF_ENDPOINT").value_or("https://huggingface.co"), "HF_ENDPOINT");
}

/// @param path below the hub's address, percent-encoded
RemoteAddress at_hub(const HubAddress& address, const std::string& path, const Variables& variables) {
    RemoteAddress found{.text = address.text(), .store = hub_endpoint(variables)};
    found.key = (found.store / path).key;
    found.store.key.clear();
    const std::string token = hub_token(variables);
    if (std::ranges::any_of(token, [](unsigned char c) { return c <= ' ' || c > '~'; }))
        throw ConfigError(
            "the token of the Hugging Face hub (HF_TOKEN, or its file) has white space or other characters that no "
            "token has\n  do: copy it again from https://huggingface.co/settings/tokens");
    if (!token.empty()) found.headers.push_back("Authorization: Bearer " + token);
    found.if_refused = token.empty() ? "check the name; for a private or gated dataset give a token in HF_TOKEN"
                                     : "check the name, that the token of HF_TOKEN (or its file) may read the dataset, and that "
                                       "you have accepted the conditions on the dataset's page";
    return found;
}

/// Returns the parameter `cursor` of the next page's address, percent-decoded; "" after the last page.
std::string cursor_of(const HttpAnswer& answer) {
    const auto link = answer.headers.find("link");
    if (link == answer.headers.end() || link->second.find("rel=\"next\"") == std::string::npos) return "";
    const std::string& text = link->second;
    std::size_t begin = text.find("?cursor=");
    if (begin == text.npos) begin = text.find("&cursor=");
    if (begin == text.npos) return "";
    begin += std::string_view("?cursor=").size();
    const std::string encoded = text.substr(begin, text.find_first_of("&>", begin) - begin);
    std::string decoded;
    for (std::size_t i = 0; i < encoded.size(); ++i)
        if (encoded[i] == '%' && i + 2 < encoded.size()) {
            decoded += static_cast<char>(std::strtol(encoded.substr(i + 1, 2).c_str(), nullptr, 16));
            i += 2;
        } else {
            decoded += encoded[i];
        }
    return decoded;
}

void add_files(const std::string& page, const HubAddress& folder, std::vector<ListedObject>& files) {
    try {
        for (const nlohmann::json& entry : nlohmann::json::parse(page))
            if (entry.at("type") == "file")
                files.push_back({entry.at("path").get<std::string>(), entry.at("size").get<std::uint64_t>()});
    } catch (const nlohmann::json::exception&) {
        throw DistributedError(
            concat(folder.text(), ": the hub's list of files is not understood\n  do: check HF_ENDPOINT, if it is set"));
    }
}

}  // namespace

std::string HubAddress::text() const {
    return concat(datasets, dataset, revision == "main" ? "" : "@", revision == "main" ? "" : revision, path.empty() ? "" : "/",
                  path);
}

bool is_hub_address(std::string_view text) { return text.starts_with(scheme); }

HubAddress parse_hub_address(const std::string& text) {
    if (!text.starts_with(datasets)) refuse_hub_address(text, "names no dataset");
    std::string_view rest = std::string_view(text).substr(datasets.size());
    HubAddress address;
    address.dataset = take_parts(rest, 1);
    const std::size_t at = rest.find('@');
    const bool has_revision = at < rest.find('/');
    if (has_revision) {
        address.dataset += concat("/", rest.substr(0, at));
        rest.remove_prefix(at + 1);
        address.revision = take_parts(rest, rest.starts_with("refs/") ? 3 : 1);
    } else {
        address.dataset += "/" + take_parts(rest, 1);
    }
    if (address.dataset.starts_with('/') || address.dataset.ends_with('/'))
        refuse_hub_address(text, "names no dataset, expected OWNER/NAME");
    if (address.revision.empty()) refuse_hub_address(text, "has an empty revision");
    address.path = rest;
    return address;
}

RemoteAddress hub_file(const HubAddress& address, const Variables& variables) {
    return at_hub(address,
                  concat("datasets/", percent_encoded(address.dataset, "/"), "/resolve/", percent_encoded(address.revision), "/",
                         percent_encoded(address.path, "/")),
                  variables);
}

std::vector<ListedObject> list_hub_files(const HubAddress& folder, const StorageSettings& settings, const Variables& variables) {
    std::string path = folder.path;
    while (path.ends_with('/')) path.pop_back();
    const RemoteAddress tree =
        at_hub(folder,
               concat("api/datasets/", percent_encoded(folder.dataset, "/"), "/tree/", percent_encoded(folder.revision),
                      path.empty() ? "" : "/", percent_encoded(path, "/")),
               variables);
    ObjectRequests requests(tree.store, nullptr, settings);
    ObjectRequest request{
        .key = tree.key, .query = {{"recursive", "true"}}, .headers = tree.headers, .if_refused = tree.if_refused};
    std::vector<ListedObject> files;
    std::string cursor;
    do {
        if (!cursor.empty()) request.query["cursor"] = cursor;
        const HttpAnswer answer = requests.send(request);
        if (!answer.ok()) requests.refuse(request, answer);
        add_files(answer.text, folder, files);
        cursor = cursor_of(answer);
    } while (!cursor.empty());
    return files;
}

}  // namespace bertpretrain
