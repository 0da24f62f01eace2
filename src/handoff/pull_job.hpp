// A pull as JSON: what coracle tells coracle-image, and what it hears back.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/userns.hpp"
#include "coracle/engine.hpp"
#include "credentials/credentials.hpp"
#include "oci/json.hpp"
#include "plan/plan.hpp"
#include "policy/registry_settings.hpp"

namespace coracle::handoff {

using oci::Json;

struct PullJob {
    std::filesystem::path store;
    PullRequest request;
    plan::Ownership ownership = plan::Ownership::root;
    base::IdMaps maps;
    policy::RegistrySettings registries;
    std::vector<credentials::Sources::File> auth_files;
};

// Both ends are of one build: what is missing is an Error, unknown keys do not come.
Json to_json(const PullJob& job);
Result<PullJob> parse_pull_job(const Json& json);

Json to_json(const PullEvent& event);
std::optional<PullEvent> parse_pull_event(const Json& json);  // no value: it is no event of a pull

Json to_json(const Error& error);
Error parse_error(const Json& json);

Json to_json(const std::vector<ImageInfo>& images);
Result<std::vector<ImageInfo>> parse_images(const Json& json);

}  // namespace coracle::handoff
