// Implements the lines of JSON. Both ends are one build of coracle: what is malformed is a fault of ours.
#include "image_program/protocol.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>

#include "layer/limit_keys.hpp"

namespace coracle::image_program {

namespace {

using Json = nlohmann::json;

constexpr std::array codes{ErrorCode::invalid_request, ErrorCode::not_found, ErrorCode::corrupt,
                           ErrorCode::unsupported,     ErrorCode::denied,    ErrorCode::unavailable,
                           ErrorCode::internal};
constexpr std::array stages{Stage::request, Stage::resolve, Stage::unpack, Stage::plan,  Stage::rootfs,
                            Stage::config,  Stage::cgroup,  Stage::create, Stage::start, Stage::run,
                            Stage::drain,   Stage::collect, Stage::remove};

template <class Words>
auto word_in(const Words& words, const std::string& text) {
    for (const auto word : words) {
        if (to_string(word) == text) return word;
    }
    return words.back();
}

// Messages quote names of strangers: bytes that are no UTF-8 are replaced, never a reason to throw.
std::string line(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

using layer::Limits;

Json to_json(const Limits& limits) {
    Json value;
    for (const auto& bound : layer::count_keys) value[bound.key] = limits.*bound.count;
    for (const auto& size : layer::size_keys) value[size.key] = (limits.*size.bytes).count;
    return value;
}

Limits limits_from(const Json& value) {
    Limits limits;
    for (const auto& bound : layer::count_keys) limits.*bound.count = value.at(bound.key).get<std::uint64_t>();
    for (const auto& size : layer::size_keys) (limits.*size.bytes).count = value.at(size.key).get<std::uint64_t>();
    return limits;
}

Json to_json(const std::vector<base::IdRange>& ranges) {
    Json value = Json::array();
    for (const auto& range : ranges) value.push_back({range.inside, range.outside, range.count});
    return value;
}

std::vector<base::IdRange> ranges_from(const Json& value) {
    std::vector<base::IdRange> ranges;
    for (const Json& range : value) {
        ranges.push_back(
            {range.at(0).get<std::uint32_t>(), range.at(1).get<std::uint32_t>(), range.at(2).get<std::uint32_t>()});
    }
    return ranges;
}

Json to_json(const ImageInfo& image) {
    return {{"ref", image.ref},           {"manifest_digest", image.manifest_digest},
            {"platform", image.platform}, {"size", image.size},
            {"created", image.created},   {"warnings", image.warnings}};
}

ImageInfo image_from(const Json& value) {
    return {.ref = value.at("ref").get<std::string>(),
            .manifest_digest = value.at("manifest_digest").get<std::string>(),
            .platform = value.at("platform").get<std::string>(),
            .size = value.at("size").get<std::uint64_t>(),
            .created = value.at("created").get<std::string>(),
            .warnings = value.at("warnings").get<std::vector<std::string>>()};
}

Error error_from(const Json& value) {
    Error error = make_error(word_in(codes, value.at("code").get<std::string>()),
                             value.at("message").get<std::string>(), value.at("hint").get<std::string>());
    if (!value.at("stage").is_null()) error.stage = word_in(stages, value.at("stage").get<std::string>());
    error.os_errno = value.at("errno").get<int>();
    return error;
}

Json to_json(const Destination& to) {
    return {{"store", to.store.string()},    {"ownership", static_cast<int>(to.ownership)},
            {"uids", to_json(to.maps.uids)}, {"gids", to_json(to.maps.gids)},
            {"limits", to_json(to.limits)},  {"parallel", to.parallel}};
}

Destination destination_from(const Json& value) {
    return {.store = value.at("store").get<std::string>(),
            .ownership = static_cast<plan::Ownership>(value.at("ownership").get<int>()),
            .maps = {ranges_from(value.at("uids")), ranges_from(value.at("gids"))},
            .limits = limits_from(value.at("limits")),
            .parallel = value.at("parallel").get<unsigned>()};
}

std::optional<std::string> text_or_none(const Json& value) {
    return value.is_null() ? std::nullopt : std::optional(value.get<std::string>());
}

std::optional<unsigned> number_or_none(const Json& value) {
    return value.is_null() ? std::nullopt : std::optional(value.get<unsigned>());
}

ImportJob import_job_from(const Json& value) {
    return {.to = destination_from(value.at("to")),
            .source = value.at("source").get<std::string>(),
            .tag = text_or_none(value.at("tag"))};
}

Json to_json(const policy::RegistrySettings& settings) {
    return {{"search", settings.search},
            {"plain_http", settings.plain_http},
            {"blocked", settings.blocked},
            {"mirrors", settings.mirrors},
            {"certs_dir", settings.certs_dir ? Json(settings.certs_dir->string()) : Json()}};
}

policy::RegistrySettings registries_from(const Json& value) {
    using Texts = std::vector<std::string>;
    return {.search = value.at("search").get<Texts>(),
            .plain_http = value.at("plain_http").get<Texts>(),
            .blocked = value.at("blocked").get<Texts>(),
            .mirrors = value.at("mirrors").get<std::map<std::string, Texts>>(),
            .certs_dir = text_or_none(value.at("certs_dir"))};
}

LoginJob login_job_from(const Json& value) {
    return {.host = value.at("host").get<std::string>(),
            .credentials = {.username = value.at("username").get<std::string>(),
                            .password = value.at("password").get<std::string>(),
                            .identity_token = {}},
            .registries = registries_from(value.at("registries"))};
}

PullJob pull_job_from(const Json& value) {
    PullJob job{.to = destination_from(value.at("to")),
                .request = {.reference = value.at("reference").get<std::string>(),
                            .platform = text_or_none(value.at("platform")),
                            .parallel = number_or_none(value.at("parallel")),
                            .stall_timeout = std::chrono::nanoseconds(value.at("stall_ns").get<std::int64_t>())},
                .registries = registries_from(value.at("registries"))};
    for (const Json& file : value.at("auth_files"))
        job.auth_files.push_back({file.at("path").get<std::string>(), file.at("required").get<bool>()});
    return job;
}

// In the order of PullEvent::Kind.
constexpr std::array event_names{"manifest", "layer", "present"};

PullEvent::Kind kind_of(const std::string& name) {
    const auto* const found = std::find(event_names.begin(), event_names.end(), name);
    const auto at = found == event_names.end() ? 1 : found - event_names.begin();
    return static_cast<PullEvent::Kind>(at);
}

Message message_from(const Json& value) {
    if (value.contains("error")) return error_from(value.at("error"));
    if (value.contains("event")) {
        return PullEvent{.kind = kind_of(value.at("event").get<std::string>()),
                         .digest = value.at("digest").get<std::string>(),
                         .bytes = value.at("bytes").get<std::uint64_t>(),
                         .total = value.at("total").get<std::uint64_t>()};
    }
    Answer images;
    for (const Json& image : value.at("images")) images.push_back(image_from(image));
    return images;
}

Error malformed(const std::exception& problem) {
    return make_error(ErrorCode::internal,
                      std::string("coracle-image and coracle do not understand each other: ") + problem.what(),
                      "install both from one build");
}

}  // namespace

ImageInfo info_of(const image::Image& image, std::vector<std::string> warnings) {
    std::string platform = image.config.os + "/" + image.config.architecture;
    if (!image.config.variant.empty()) platform += "/" + image.config.variant;
    return {.ref = image.ref,
            .manifest_digest = image.manifest_digest.str(),
            .platform = std::move(platform),
            .size = image.size,
            .created = image.config.created,
            .warnings = std::move(warnings)};
}

std::string to_line(const ImportJob& job) {
    return line({{"act", "import"},
                 {"to", to_json(job.to)},
                 {"source", job.source},
                 {"tag", job.tag ? Json(*job.tag) : Json()}});
}

std::string to_line(const PullJob& job) {
    Json files = Json::array();
    for (const auto& file : job.auth_files)
        files.push_back({{"path", file.path.string()}, {"required", file.required}});
    return line({{"act", "pull"},
                 {"to", to_json(job.to)},
                 {"reference", job.request.reference},
                 {"platform", job.request.platform ? Json(*job.request.platform) : Json()},
                 {"parallel", job.request.parallel ? Json(*job.request.parallel) : Json()},
                 {"stall_ns", job.request.stall_timeout.count()},
                 {"registries", to_json(job.registries)},
                 {"auth_files", std::move(files)}});
}

std::string to_line(const LoginJob& job) {
    return line({{"act", "login"},
                 {"host", job.host},
                 {"username", job.credentials.username},
                 {"password", job.credentials.password},
                 {"registries", to_json(job.registries)}});
}

Result<Job> parse_job(std::string_view text) {
    try {
        const Json value = Json::parse(text);
        if (value.at("act") == "pull") return Job(pull_job_from(value));
        if (value.at("act") == "login") return Job(login_job_from(value));
        return Job(import_job_from(value));
    } catch (const Json::exception& problem) {
        return malformed(problem);
    }
}

std::string to_line(const PullEvent& event) {
    return line({{"event", event_names[static_cast<std::size_t>(event.kind)]},
                 {"digest", event.digest},
                 {"bytes", event.bytes},
                 {"total", event.total}});
}

std::string to_line(const Answer& images) {
    Json list = Json::array();
    for (const ImageInfo& image : images) list.push_back(to_json(image));
    return line({{"images", std::move(list)}});
}

std::string to_line(const Error& error) {
    return line({{"error",
                  {{"code", to_string(error.code)},
                   {"stage", error.stage ? Json(to_string(*error.stage)) : Json()},
                   {"message", error.message},
                   {"hint", error.hint},
                   {"errno", error.os_errno}}}});
}

Result<Message> parse_message(std::string_view text) {
    try {
        return message_from(Json::parse(text));
    } catch (const Json::exception& problem) {
        return malformed(problem);
    }
}

}  // namespace coracle::image_program
