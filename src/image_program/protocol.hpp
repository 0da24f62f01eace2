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
#include "image/image.hpp"
#include "layer/limits.hpp"
#include "plan/plan.hpp"

namespace coracle::image_program {

// Where images go and how their layers are written; every request has it.
struct Destination {
    std::filesystem::path store;
    plan::Ownership ownership = plan::Ownership::root;
    base::IdMaps maps{};
    layer::Limits limits{};
};

// An import; the source "-" is the descriptor that the client hands over as stream_fd.
struct ImportJob {
    Destination to;
    std::string source;
    std::optional<std::string> tag;
};
inline constexpr int stream_fd = 3;

std::string to_line(const ImportJob& job);
Result<ImportJob> parse_import_job(std::string_view line);

// So many bytes of a layer are in.
struct LayerEvent {
    std::string digest;
    std::uint64_t bytes = 0;
    std::uint64_t total = 0;
};
using Answer = std::vector<ImageInfo>;
using Message = std::variant<LayerEvent, Answer, Error>;

std::string to_line(const LayerEvent& event);
std::string to_line(const Answer& images);
std::string to_line(const Error& error);
Result<Message> parse_message(std::string_view line);

// What is told of an image.
ImageInfo info_of(const image::Image& image, std::vector<std::string> warnings = {});

// For other kinds of requests.
nlohmann::json to_json(const Destination& to);
Destination destination_from(const nlohmann::json& value);  // throws what nlohmann throws

}  // namespace coracle::image_program
