// Implements the JSON of pulls; nlohmann's exceptions end here.
#include "handoff/pull_job.hpp"

#include <array>

namespace coracle::handoff {

namespace {

constexpr std::array kinds{"manifest", "layer", "present"};  // in the order of PullEvent::Kind
constexpr std::array codes{ErrorCode::invalid_request, ErrorCode::not_found, ErrorCode::corrupt,
                           ErrorCode::unsupported,     ErrorCode::denied,    ErrorCode::unavailable,
                           ErrorCode::internal};

Json ids_json(const std::vector<base::IdRange>& ranges) {
    Json list = Json::array();
    for (const base::IdRange& range : ranges) list.push_back({range.inside, range.outside, range.count});
    return list;
}

std::vector<base::IdRange> ids_of(const Json& list) {
    std::vector<base::IdRange> ranges;
    for (const Json& range : list) ranges.push_back({range.at(0), range.at(1), range.at(2)});
    return ranges;
}

Json optional_json(const std::optional<std::string>& text) { return text ? Json(*text) : Json(nullptr); }

std::optional<std::string> optional_of(const Json& json) {
    return json.is_null() ? std::nullopt : std::optional(json.get<std::string>());
}

PullJob job_of(const Json& json) {
    PullJob job;
    job.store = json.at("store").get<std::string>();
    job.request = {.reference = json.at("reference"),
                   .platform = optional_of(json.at("platform")),
                   .parallel = json.at("parallel"),
                   .stall_timeout = std::chrono::nanoseconds(json.at("stall_ns").get<std::int64_t>())};
    job.ownership = static_cast<plan::Ownership>(json.at("ownership").get<int>());
    job.maps = {ids_of(json.at("uids")), ids_of(json.at("gids"))};
    const Json& registries = json.at("registries");
    job.registries = {.search = registries.at("search"),
                      .plain_http = registries.at("plain_http"),
                      .blocked = registries.at("blocked"),
                      .mirrors = registries.at("mirrors"),
                      .certs_dir = optional_of(registries.at("certs_dir"))};
    for (const Json& file : json.at("auth_files"))
        job.auth_files.push_back({.path = file.at("path").get<std::string>(), .required = file.at("required")});
    return job;
}

Error garbled(const Json::exception& problem) {
    return make_error(ErrorCode::internal,
                      std::string("coracle and coracle-image do not understand each other: ") + problem.what(),
                      "install both from the same build");
}

}  // namespace

Json to_json(const PullJob& job) {
    Json files = Json::array();
    for (const auto& file : job.auth_files)
        files.push_back({{"path", file.path.string()}, {"required", file.required}});
    const auto& certs = job.registries.certs_dir;
    return {{"store", job.store.string()},
            {"reference", job.request.reference},
            {"platform", optional_json(job.request.platform)},
            {"parallel", job.request.parallel},
            {"stall_ns", job.request.stall_timeout.count()},
            {"ownership", static_cast<int>(job.ownership)},
            {"uids", ids_json(job.maps.uids)},
            {"gids", ids_json(job.maps.gids)},
            {"registries",
             {{"search", job.registries.search},
              {"plain_http", job.registries.plain_http},
              {"blocked", job.registries.blocked},
              {"mirrors", job.registries.mirrors},
              {"certs_dir", certs ? Json(certs->string()) : Json(nullptr)}}},
            {"auth_files", std::move(files)}};
}

Result<PullJob> parse_pull_job(const Json& json) {
    try {
        return job_of(json);
    } catch (const Json::exception& problem) {
        return garbled(problem);
    }
}

Json to_json(const PullEvent& event) {
    return {{"event", kinds[static_cast<std::size_t>(event.kind)]},
            {"digest", event.digest},
            {"bytes", event.bytes},
            {"total", event.total}};
}

std::optional<PullEvent> parse_pull_event(const Json& json) {
    try {
        for (std::size_t at = 0; at < kinds.size(); ++at) {
            if (json.at("event") != kinds[at]) continue;
            return PullEvent{.kind = static_cast<PullEvent::Kind>(at),
                             .digest = json.at("digest"),
                             .bytes = json.at("bytes"),
                             .total = json.at("total")};
        }
    } catch (const Json::exception&) {
    }
    return std::nullopt;
}

Json to_json(const Error& error) {
    return {{"code", to_string(error.code)},
            {"stage", error.stage ? Json(static_cast<int>(*error.stage)) : Json(nullptr)},
            {"message", error.message},
            {"hint", error.hint},
            {"errno", error.os_errno}};
}

Error parse_error(const Json& json) {
    try {
        Error error = make_error(ErrorCode::internal, json.at("message"), json.at("hint"));
        for (const ErrorCode code : codes) {
            if (json.at("code") == to_string(code)) error.code = code;
        }
        if (!json.at("stage").is_null()) error.stage = static_cast<Stage>(json.at("stage").get<int>());
        error.os_errno = json.at("errno");
        return error;
    } catch (const Json::exception& problem) {
        return garbled(problem);
    }
}

Json to_json(const std::vector<ImageInfo>& images) {
    Json list = Json::array();
    for (const ImageInfo& image : images) {
        list.push_back({{"ref", image.ref},
                        {"manifest_digest", image.manifest_digest},
                        {"platform", image.platform},
                        {"size", image.size},
                        {"created", image.created},
                        {"warnings", image.warnings}});
    }
    return list;
}

Result<std::vector<ImageInfo>> parse_images(const Json& json) {
    try {
        std::vector<ImageInfo> images;
        for (const Json& image : json) {
            images.push_back({.ref = image.at("ref"),
                              .manifest_digest = image.at("manifest_digest"),
                              .platform = image.at("platform"),
                              .size = image.at("size"),
                              .created = image.at("created"),
                              .warnings = image.at("warnings")});
        }
        return images;
    } catch (const Json::exception& problem) {
        return garbled(problem);
    }
}

}  // namespace coracle::handoff
