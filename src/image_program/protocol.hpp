// What coracle and coracle-image say to each other: one request, then events, then one answer; each a line of JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "coracle/engine.hpp"
#include "coracle/error.hpp"
#include "credentials/credentials.hpp"
#include "image/image.hpp"
#include "layer/limits.hpp"
#include "plan/plan.hpp"
#include "policy/registry_settings.hpp"

namespace coracle::image_program {

// Where images go and how their layers are written; every request has it.
struct Destination {
    std::filesystem::path store;
    plan::Ownership ownership = plan::Ownership::root;
    base::IdMaps maps{};
    layer::Limits limits{};
    unsigned parallel = 0;  // layers at once; 0: as many as there are processors
};

// An import; the source "-" is the descriptor that the client hands over as stream_fd.
struct ImportJob {
    Destination to;
    std::string source;
    std::optional<std::string> tag;
};
inline constexpr int stream_fd = 3;

// A pull; registries and auth files as the configuration has them.
struct PullJob {
    Destination to;
    PullRequest request;
    policy::RegistrySettings registries{};
    std::vector<credentials::Sources::File> auth_files{};
};

// A question of `coracle login`; the answer to it is no images.
struct LoginJob {
    std::string host;
    credentials::Credentials credentials;
    policy::RegistrySettings registries{};
};

using Job = std::variant<ImportJob, PullJob, LoginJob>;

std::string to_line(const ImportJob& job);
std::string to_line(const PullJob& job);
std::string to_line(const LoginJob& job);
Result<Job> parse_job(std::string_view line);

using Answer = std::vector<ImageInfo>;
using Message = std::variant<PullEvent, Answer, Error>;

std::string to_line(const PullEvent& event);
std::string to_line(const Answer& images);
std::string to_line(const Error& error);
Result<Message> parse_message(std::string_view line);

// What is told of an image.
ImageInfo info_of(const image::Image& image, std::vector<std::string> warnings = {});

}  // namespace coracle::image_program
