"""Read every YAML file of a directory with scandir, read and a bare loop over the parser's events."""

import os
import sys

import yaml

loader = yaml.CBaseLoader
count = 0
with os.scandir(sys.argv[1]) as entries:
    names = [entry.path for entry in entries if entry.name.endswith(".yaml")]
for name in names:
    with open(name, "rb") as stream:  # noqa: PTH123 - the bare way is what is measured
        data = stream.read()
    for _ in yaml.parse(data, Loader=loader):
        pass
    count += 1
print(count)
