// Implements the places for records.
#include "cli/record_sinks.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>

#include "base/files.hpp"
#include "base/try.hpp"

namespace coracle::cli {

namespace {

// A record in a file is replaced as a whole; anything else of that name (a FIFO, /dev/stderr) is written to.
bool is_replaceable(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

// The record's file is where a link of that name points to, as if it were written in place.
std::filesystem::path behind_links(const std::filesystem::path& path) {
    std::error_code ignored;
    const auto real = std::filesystem::canonical(path, ignored);
    return ignored ? path : real;
}

}  // namespace

Result<int> parse_result_fd(const std::string& text) {
    int fd = -1;
    const auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), fd);
    if (error == std::errc() && after == text.data() + text.size() && fd > 2) return fd;
    return make_error(ErrorCode::invalid_request, "'" + text + "' is not a descriptor for records",
                      "0, 1 and 2 are the program's own: open another one, such as 3>record.json");
}

Result<RecordSinks> RecordSinks::open(const RecordOptions& options) {
    RecordSinks sinks;
    if (options.file) TRY_OK(sinks.open_file(*options.file).within("--result").at(Stage::request));
    sinks.fd_ = options.fd;
    // Close-on-exec from here on: the record's descriptor is none of the sandbox's.
    if (options.fd && ::fcntl(*options.fd, F_SETFD, FD_CLOEXEC) != 0) {
        return os_error("--result-fd: descriptor " + std::to_string(*options.fd), errno)
            .with_hint("open it in the shell: coracle run --result-fd 3 ... 3>record.json")
            .at(Stage::request);
    }
    return sinks;
}

Result<> RecordSinks::open_file(const std::string& path) {
    if (path.empty()) return make_error(ErrorCode::invalid_request, "'' is not a file", "name the file to be written");
    if (!is_replaceable(path)) {
        TRY(stream_, base::open_file_at(AT_FDCWD, path, O_WRONLY | O_NOCTTY));
        return {};
    }
    const auto real = behind_links(path);
    const auto folder = real.has_parent_path() ? real.parent_path() : std::filesystem::path(".");
    auto opened = base::open_dir(folder);
    if (!opened) return os_error("create '" + path + "'", opened.error().os_errno);
    folder_ = std::move(opened).value();
    name_ = real.filename().string();
    if (::faccessat(folder_.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) return os_error("create '" + path + "'", errno);
    return {};
}

Result<> RecordSinks::write_file(const std::string& record) const {
    if (stream_) return base::write_all(stream_.get(), record, "record");
    if (folder_) return base::replace_file_at(folder_.get(), name_, record, base::Durability::cache);
    return {};
}

Result<> RecordSinks::write(const std::string& record) const {
    TRY_OK(write_file(record).within("--result"));
    if (fd_) TRY_OK(base::write_all(*fd_, record, "descriptor " + std::to_string(*fd_)).within("--result-fd"));
    return {};
}

}  // namespace coracle::cli
