#!/usr/bin/env python3
"""Checks JSON records against the schema: check_schema.py SCHEMA RECORD... ; says what is wrong and exits 1."""
import json
import sys

import jsonschema


def main(schema_path, record_paths):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    wrong = 0
    for path in record_paths:
        with open(path, encoding="utf-8") as file:  # a record that is not UTF-8 fails here
            record = json.load(file)
        for error in validator.iter_errors(record):
            print(f"{path}: {'/'.join(map(str, error.absolute_path)) or '(top)'}: {error.message}", file=sys.stderr)
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
