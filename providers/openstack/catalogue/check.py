"""Runs "PROGRAM upgrade check", and tells the person who applies about everything but success.

The program ends with 0, with 1 for warnings, with 2 for failures, and with 255 if it breaks. A program that
crashes ends with 1, too, but prints no results. It breaks here, and runs again. It also
runs again if only the check "Placement API" of nova-status fails: Keystone or Placement may not answer yet.
"""

import re
import subprocess
import sys

check = subprocess.run([*sys.argv[1:], "upgrade", "check"], stdout=subprocess.PIPE, text=True)
print(check.stdout, end="", flush=True)
if "Upgrade Check Results" not in check.stdout:
    sys.exit(255)
told = []
failed = set()
for cell in re.split(r"^\+-+\+$", check.stdout, flags=re.MULTILINE):
    text = " ".join(" ".join(line.strip("|") for line in cell.splitlines()).split())
    if found := re.fullmatch("Check: (.*) Result: (Warning|Failure) Details: (.*)", text):
        name, result, details = found.groups()
        told.append(f"{result}: {name}: {details}")
        if result == "Failure":
            failed.add(name)
if told:
    with open("/dev/termination-log", "w") as log:
        print("\n".join(sorted(told, reverse=True)), file=log)  # failures last: Kubernetes keeps the end
if failed == {"Placement API"}:
    sys.exit(255)
sys.exit(0 if check.returncode == 1 else check.returncode)
