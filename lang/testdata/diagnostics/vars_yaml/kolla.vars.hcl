release: "2025.1"
password: hunter2
nodes:
  - hunter2
  - b
