#pragma once
// Datasets of the Hugging Face hub, which serves them by https.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/environment.h"
#include "storage/object_requests.h"
#include "storage/object_store.h"

namespace bertpretrain {

/// hf://datasets/OWNER/NAME[@REVISION][/PATH]
struct HubAddress {
    std::string dataset;            ///< "OWNER/NAME"
    std::string revision = "main";  ///< a branch, a tag, a commit, "refs/pr/NUMBER" or "refs/convert/NAME"
    std::string path{};             ///< of a file or a folder; empty: the whole dataset

    std::string text() const;
};

bool is_hub_address(std::string_view text);

/// @throws ConfigError for what is no dataset's address
HubAddress parse_hub_address(const std::string& text);

/// Returns where the hub serves a file. HF_ENDPOINT replaces https://huggingface.co. The token is HF_TOKEN, or the content of
/// HF_TOKEN_PATH, HF_HOME/token or ~/.cache/huggingface/token; without any, requests have none.
/// @throws ConfigError for an invalid HF_ENDPOINT, or a token that no header can hold
RemoteAddress hub_file(const HubAddress& address, const Variables& variables = environment_variable);

/// Returns the files in or below a folder of a dataset, with their paths in the dataset, in the hub's order.
/// @throws as ObjectRequests  @throws DataError when the dataset, the revision or the folder is missing
std::vector<ListedObject> list_hub_files(const HubAddress& folder, const StorageSettings& settings = {},
                                         const Variables& variables = environment_variable);

}  // namespace bertpretrain
