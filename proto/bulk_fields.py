#!/usr/bin/env python3
"""The list of service.proto's bulk fields as C++: proto/bulk_fields.py FILE.proto > HEADER

A `bytes` field with a number from 13 to 31 is one; proto/bulk_fields.h says why. That the list is
right, tests/proto/bulk_fields_test.cc checks against the messages themselves.
"""

import re
import sys

BULK = range(13, 32)


def camel(name):
    return "".join(part.capitalize() for part in name.split("_"))


def bulk_fields(text):
    """By message, in the file's order: (number, name), by rising number."""
    text = re.sub(r"//[^\n]*", "", text)
    found = {}
    for message, body in re.findall(r"^message (\w+) \{(.*?)^\}", text, re.MULTILINE | re.DOTALL):
        fields = sorted((int(number), name)
                        for name, number in re.findall(r"^  bytes (\w+) = (\d+);", body, re.MULTILINE)
                        if int(number) in BULK)
        if fields:
            found[message] = fields
    return found


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        found = bulk_fields(file.read())
    print("// Made by proto/bulk_fields.py; included by proto/bulk_fields.h alone.")
    for message, fields in found.items():
        print(f"inline std::vector<BulkField> BulkFields(proto::{message}* message) {{")
        rows = [f"{{proto::{message}::k{camel(name)}FieldNumber, message->mutable_{name}()}}"
                for _, name in fields]
        print(f"  return {{{', '.join(rows)}}};")
        print("}")


if __name__ == "__main__":
    main()
