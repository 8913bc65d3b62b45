"""aws_regions.py: prints "REGION DOMAIN" for each region that botocore knows."""
import json
import pathlib

import botocore

for partition in json.loads((pathlib.Path(botocore.__file__).parent / "data/partitions.json").read_text())["partitions"]:
    for region in partition["regions"]:
        if "-global" not in region:
            print(region, partition["outputs"]["dnsSuffix"])
