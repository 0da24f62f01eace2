// Where the record of a run goes: stdout, a file, a descriptor. All are opened before the run, so that a record is not
// lost for a misspelt path.
#pragma once

#include <optional>
#include <string>

#include "base/unique_fd.hpp"
#include "coracle/error.hpp"

namespace coracle::cli {

struct RecordOptions {
    bool json = false;                // --json: on stdout
    std::optional<std::string> file;  // --result
    std::optional<int> fd;            // --result-fd
};

Result<int> parse_result_fd(const std::string& text);

class RecordSinks {
public:
    static Result<RecordSinks> open(const RecordOptions& options);
    // To the file and the descriptor; stdout is the caller's.
    Result<> write(const std::string& record) const;

private:
    Result<> open_file(const std::string& path);
    Result<> write_file(const std::string& record) const;

    base::UniqueFd stream_;  // the file itself where it is a FIFO, a terminal or a device
    base::UniqueFd folder_;  // else the folder in which a regular file is replaced
    std::string name_;
    std::optional<int> fd_;
};

}  // namespace coracle::cli
