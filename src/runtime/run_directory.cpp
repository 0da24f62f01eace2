// Implements a run's directory and the search for those whose owner is dead.
#include "runtime/run_directory.hpp"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>

#include "base/files.hpp"
#include "base/try.hpp"

namespace coracle::runtime {

namespace {

constexpr const char* lock_name = "lock";
constexpr const char* record_name = "record.json";
constexpr const char* control_name = "control";

// Arguments may be no UTF-8; the file then shows replacement characters.
std::string record_text(const std::string& id, const RunRecord& record) {
    nlohmann::json json{{"id", id},
                        {"cgroup_parents", nlohmann::json::array()},
                        {"image", record.image},
                        {"command", record.command},
                        {"wall_time_ns", record.wall_time.count()},
                        {"pid", record.pid},
                        {"started", record.started}};
    for (const auto& parent : record.cgroup_parents) json["cgroup_parents"].push_back(parent.string());
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::vector<std::string> texts(const nlohmann::json& json, const char* key) {
    std::vector<std::string> values;
    if (!json.contains(key) || !json[key].is_array()) return values;
    for (const auto& value : json[key]) {
        if (value.is_string()) values.push_back(value.get<std::string>());
    }
    return values;
}

std::int64_t number(const nlohmann::json& json, const char* key) {
    return json.contains(key) && json[key].is_number_integer() ? json[key].get<std::int64_t>() : 0;
}

// What cannot be read is empty: a record is written in one act, but a power cut or a stranger may have damaged it.
RunRecord read_record(int dir_fd) {
    RunRecord record;
    const auto text = base::read_file_at(dir_fd, record_name, 1_MiB);
    if (!text) return record;
    const auto json = nlohmann::json::parse(text.value(), nullptr, false);
    if (!json.is_object()) return record;
    for (std::string& parent : texts(json, "cgroup_parents")) record.cgroup_parents.emplace_back(std::move(parent));
    if (json.contains("image") && json["image"].is_string()) record.image = json["image"].get<std::string>();
    record.command = texts(json, "command");
    record.wall_time = Duration(number(json, "wall_time_ns"));
    record.pid = static_cast<pid_t>(number(json, "pid"));
    record.started = number(json, "started");
    return record;
}

// A directory without a lock is one that is just being made, unless it is old.
bool is_abandoned(int dir_fd) {
    constexpr std::time_t birth_seconds = 10;
    struct stat status {};
    return ::fstat(dir_fd, &status) == 0 && ::time(nullptr) - status.st_mtime > birth_seconds;
}

}  // namespace

Result<RunDirectory> RunDirectory::create(const std::filesystem::path& runs, const std::string& id,
                                          const RunRecord& record) {
    RunDirectory run(runs, id);
    TRY(base::UniqueFd runs_fd, base::open_dir(runs));
    if (::mkdirat(runs_fd.get(), id.c_str(), 0711) != 0) {
        return os_error("create the run directory '" + (runs / id).string() + "'", errno);
    }
    // Only from here on is it ours to remove: a taken name is another run's directory.
    run.runs_fd_ = std::move(runs_fd);
    TRY(const base::UniqueFd folder, base::open_dir_at(run.runs_fd_.get(), id));
    TRY(run.lock_, base::FileLock::create_held(folder.get(), lock_name));
    TRY_OK(base::write_new_file_at(folder.get(), record_name, record_text(id, record)));
    // Opened for writing as well, so that it has no end when those who wrote to it have gone.
    if (::mkfifoat(folder.get(), control_name, 0600) != 0) return os_error("create the run's control FIFO", errno);
    TRY(run.control_, base::open_file_at(folder.get(), control_name, O_RDWR | O_NONBLOCK | O_NOFOLLOW));
    TRY_OK(base::make_dir_at(folder.get(), "stage"));
    return run;
}

RunDirectory::~RunDirectory() {
    if (runs_fd_) (void)base::remove_tree_at(runs_fd_.get(), id_);
}

Result<> RunDirectory::write_config(std::string_view json) const {
    return base::write_new_file_at(runs_fd_.get(), id_ + "/config.json", json);
}

Result<> RunDirectory::retire() && {
    const base::UniqueFd runs = std::move(runs_fd_);
    return base::remove_tree_at(runs.get(), id_).at(Stage::remove);
}

std::vector<std::string> run_ids(const std::filesystem::path& runs) {
    const auto folder = base::open_dir(runs);
    if (!folder) return {};
    auto names = base::list_dir(folder.value().get());
    return names ? std::move(names).value() : std::vector<std::string>();
}

std::optional<Doomed> claim_if_dead(const std::filesystem::path& runs, const std::string& id) {
    const auto folder = base::open_dir(runs / id);
    if (!folder) return std::nullopt;
    const int fd = folder.value().get();
    if (!base::exists_at(fd, lock_name) && !is_abandoned(fd)) return std::nullopt;
    auto lock = base::FileLock::try_acquire(fd, lock_name);
    if (!lock || !lock.value()) return std::nullopt;
    return Doomed{.run = {.id = id, .cgroup_parents = read_record(fd).cgroup_parents},
                  .lock = std::move(*lock.value())};
}

std::vector<LiveRun> live_runs(const std::filesystem::path& runs) {
    std::vector<LiveRun> live;
    for (const std::string& id : run_ids(runs)) {
        const auto folder = base::open_dir(runs / id);
        if (!folder || !base::FileLock::is_held(folder.value().get(), lock_name)) continue;
        live.push_back({.id = id, .record = read_record(folder.value().get())});
    }
    return live;
}

Result<> send_control(const std::filesystem::path& runs, const std::string& id, int signal_number) {
    const auto gone = [&id] { return make_error(ErrorCode::not_found, "no run '" + id + "' is alive"); };
    const auto folder = base::open_dir(runs / id);
    if (!folder || !base::FileLock::is_held(folder.value().get(), lock_name)) return gone();
    TRY(const base::UniqueFd control,
        base::open_file_at(folder.value().get(), control_name, O_WRONLY | O_NONBLOCK | O_NOFOLLOW));
    struct stat status {};
    if (::fstat(control.get(), &status) != 0 || !S_ISFIFO(status.st_mode)) return gone();
    const auto byte = static_cast<unsigned char>(signal_number);
    if (::write(control.get(), &byte, 1) != 1) return os_error("signal run " + id, errno);
    return {};
}

void remove_run_directory(const std::filesystem::path& runs, const std::string& id) {
    if (const auto folder = base::open_dir(runs)) (void)base::remove_tree_at(folder.value().get(), id);
}

}  // namespace coracle::runtime
