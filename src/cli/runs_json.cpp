// Implements the JSON form of live runs.
#include "cli/runs_json.hpp"

#include <nlohmann/json.hpp>

#include <chrono>

namespace coracle::cli {

std::string runs_json(const std::vector<RunInfo>& runs) {
    using Json = nlohmann::ordered_json;
    Json list = Json::array();
    for (const RunInfo& run : runs) {
        list.push_back({{"id", run.id},
                        {"image", run.image},
                        {"command", run.command},
                        {"uid", run.uid},
                        {"pid", run.pid},
                        {"started", run.started},
                        {"wall_time_s", std::chrono::duration<double>(run.wall_time).count()}});
    }
    // Arguments may be no UTF-8: the library then puts U+FFFD instead of throwing.
    return Json{{"runs", std::move(list)}}.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace coracle::cli
